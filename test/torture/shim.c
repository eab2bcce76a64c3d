/*
 * Preloaded into a daemon: what the system says about its disk and its clock is what a file says. The file holds two numbers,
 * "FAILING OFFSET": while FAILING is not 0 every fsync and fdatasync fails with EIO, and the wall clock is off by OFFSET ms.
 * It is read again at most once a millisecond of the steady clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static __thread long failing = 0;
static __thread long offset_ms = 0;
static __thread long read_at = -1;

static long steady_ms(void) {
  static int (*real)(clockid_t, struct timespec *);
  struct timespec now;
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  real(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void look(void) {
  const char *path = getenv("SLUICE_TORTURE_SHIM");
  long now = steady_ms();
  char text[64];
  if (!path || now == read_at) return;
  read_at = now;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return;
  text[size] = 0;
  sscanf(text, "%ld %ld", &failing, &offset_ms);
}

int fsync(int fd) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fsync");
  look();
  if (failing) { errno = EIO; return -1; }
  return real(fd);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
  look();
  if (failing) { errno = EIO; return -1; }
  return real(fd);
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
  static int (*real)(struct timeval *, void *);
  if (!real) real = dlsym(RTLD_NEXT, "gettimeofday");
  int result = real(tv, tz);
  look();
  if (result == 0 && offset_ms) {
    long us = tv->tv_sec * 1000000L + tv->tv_usec + offset_ms * 1000L;
    tv->tv_sec = us / 1000000L;
    tv->tv_usec = us % 1000000L;
  }
  return result;
}

int clock_gettime(clockid_t id, struct timespec *ts) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, ts);
  if (id != CLOCK_REALTIME) return result;
  look();
  if (result == 0 && offset_ms) {
    long ms = ts->tv_nsec / 1000000L + offset_ms % 1000L;
    long seconds = ts->tv_sec + offset_ms / 1000L;
    long rest = ts->tv_nsec % 1000000L;
    if (ms < 0) { ms += 1000; seconds--; }
    if (ms >= 1000) { ms -= 1000; seconds++; }
    ts->tv_sec = seconds;
    ts->tv_nsec = ms * 1000000L + rest;
  }
  return result;
}
