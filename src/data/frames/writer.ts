/** Writes frames without blocking the caller: they are buffered for half a second and then written in one piece. */

import { type FileHandle, open } from 'node:fs/promises';
import { machineWall, systemClock } from '../../clock/clock.ts';
import { causeOf } from '../../domain/refusal.ts';
import { encoded, magic } from './file.ts';
import { closeFrames, newFramePath, prune } from './folder.ts';

/** Time between writes; a killed process loses at most this, real ms. */
const writeEveryMs = 500;
/** A file is closed at this size, so that compaction never holds more of them than this in memory. */
const fileBytes = 2 ** 26;
/** Buffer for a slow disk; when it is full the recording ends, since trading needs the memory. */
const maxBufferedBytes = 2 ** 26;
const dayMs = 86_400_000;

export interface FrameWriterOptions {
  /** The catalogue. */
  readonly dir: string;
  /** Bytes that all files of frames may take; those in the catalogue give way first. */
  readonly maxBytes: number;
  /** UTC ms by the exchange's clock. */
  readonly now: () => number;
  /** A note that each file begins with, so that it can be read by itself. */
  readonly opening: (isFirst: boolean) => Uint8Array;
  /** Called once when the recording ends, with the reason: the disk, or the limit. */
  readonly ended: (why: string) => void;
  /** A file was closed that compaction may take. */
  readonly closed: () => void;
}

interface Open {
  readonly path: string;
  readonly handle: FileHandle;
  readonly day: number;
  bytes: number;
}

/** Opens nothing before the first record. */
export class FrameWriter {
  readonly #options: FrameWriterOptions;
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  #against: string | undefined;
  #file: Open | undefined;
  #files = 0;
  /** Of all files of frames, since they were last counted. */
  #usedBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #stopTimer: (() => void) | undefined;

  constructor(options: FrameWriterOptions) {
    this.#options = options;
  }

  /** Why nothing is recorded any more. */
  get against(): string | undefined {
    return this.#against;
  }

  /** Never throws and never waits; nothing once the recording has ended. The bytes are copied. */
  add(kind: 'frame' | 'note', bytes: Uint8Array): void {
    if (this.#against !== undefined) return;
    const record = encoded({ kind, seenAt: this.#options.now(), machineAt: machineWall(), bytes });
    this.#buffered.push(record);
    this.#bufferedBytes += record.length;
    if (this.#bufferedBytes > maxBufferedBytes)
      this.#end(`the disk does not keep up: ${megabytes(this.#bufferedBytes)} wait to be written`);
    else
      this.#stopTimer ??= systemClock.at(systemClock.now() + writeEveryMs, () => {
        this.#stopTimer = undefined;
        void this.flush();
      });
  }

  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async close(): Promise<void> {
    this.#stopTimer?.();
    await this.flush()
      .then(() => this.#closeFile())
      .catch((error: unknown) => this.#end(causeOf(error)));
  }

  #end(why: string): void {
    if (this.#against !== undefined) return;
    this.#against = why;
    this.#buffered = [];
    this.#bufferedBytes = 0;
    this.#options.ended(why);
  }

  async #write(): Promise<void> {
    const bytes = Buffer.concat(this.#buffered);
    this.#buffered = [];
    this.#bufferedBytes = 0;
    if (bytes.length === 0 || this.#against !== undefined) return;
    try {
      const file = await this.#fileNow();
      this.#makeRoom(bytes.length);
      await file.handle.appendFile(bytes);
      await file.handle.datasync();
      file.bytes += bytes.length;
      this.#usedBytes += bytes.length;
    } catch (error) {
      this.#end(causeOf(error));
      await this.#closeFile().catch(() => {});
    }
  }

  async #fileNow(): Promise<Open> {
    const now = this.#options.now();
    const day = Math.floor(now / dayMs);
    const old = this.#file;
    if (old !== undefined && old.bytes <= fileBytes && old.day === day) return old;
    await this.#closeFile();
    const { dir, maxBytes, opening } = this.#options;
    this.#usedBytes = prune(dir, maxBytes);
    const path = newFramePath(dir, now, this.#files);
    const note = encoded({ kind: 'note', seenAt: now, machineAt: machineWall(), bytes: opening(this.#files++ === 0) });
    const made: Open = { path, handle: await open(path, 'wx', 0o600), day, bytes: 0 };
    this.#file = made;
    const head = Buffer.concat([magic, note]);
    this.#makeRoom(head.length);
    await made.handle.appendFile(head);
    this.#usedBytes += head.length;
    return made;
  }

  #makeRoom(bytes: number): void {
    const { dir, maxBytes } = this.#options;
    if (this.#usedBytes + bytes <= maxBytes) return;
    this.#usedBytes = prune(dir, maxBytes - bytes);
    if (this.#usedBytes + bytes > maxBytes)
      throw new Error(
        `recorded frames take ${megabytes(maxBytes)}, the limit, and none of them are in the catalogue (sluice data compact)`,
      );
  }

  async #closeFile(): Promise<void> {
    const old = this.#file;
    this.#file = undefined;
    if (old === undefined) return;
    await old.handle.close();
    closeFrames(old.path);
    this.#options.closed();
  }
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
