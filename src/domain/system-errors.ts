/** Errors of the operating system, of TLS and of Node in plain words. The code stays in brackets: people search for it. */

/** By code: what it means of a file, a port or a connection. `it` is the file, where one is named. */
const meanings: Readonly<Record<string, (it: string) => string>> = {
  ENOENT: (it) => `${it} does not exist`,
  EACCES: (it) => `${it} cannot be opened by this user (permission denied): change its owner or permissions`,
  EPERM: (it) => `${it} cannot be opened by this user (permission denied): change its owner or permissions`,
  EROFS: (it) => `${it} is on a disk that is mounted read-only`,
  EISDIR: (it) => `${it} is a folder, not a file`,
  ENOTDIR: (it) => `${it} is below a file, not a folder`,
  EEXIST: (it) => `${it} exists already`,
  ENOSPC: () => 'the disk is full',
  SQLITE_IOERR_SHMSIZE: () => 'the disk is full',
  EDQUOT: () => 'the disk quota of this user is used up',
  EIO: (it) => `the disk reports an I/O error at ${it}`,
  EMFILE: () => 'too many files are open: raise ulimit -n',
  EADDRINUSE: () => 'the port is taken',
  EADDRNOTAVAIL: () => 'this machine does not have that address',
  ECONNREFUSED: () => 'nothing listens at that address and port',
  ECONNRESET: () => 'the other side cut the connection',
  EPIPE: () => 'the other side cut the connection',
  ENOTFOUND: () => 'the host name is not known: check its spelling and DNS',
  EAI_AGAIN: () => 'the host name cannot be looked up: check DNS and the network',
  EHOSTUNREACH: () => 'no route to that address: check the network',
  ENETUNREACH: () => 'no route to that address: check the network',
  ETIMEDOUT: () => 'no answer in time',
  EPROTO: () => 'the encrypted connection failed: check that the port speaks TLS',
  CERT_HAS_EXPIRED: () => 'its certificate has expired',
  CERT_NOT_YET_VALID: () => "its certificate is not valid yet: check this machine's clock",
  DEPTH_ZERO_SELF_SIGNED_CERT: () => 'its certificate is not trusted by this machine',
  SELF_SIGNED_CERT_IN_CHAIN: () => 'its certificate is not trusted by this machine',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: () => 'its certificate is not trusted by this machine',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: () => 'its certificate is not trusted by this machine',
  ERR_TLS_CERT_ALTNAME_INVALID: () => 'its certificate is for another host name',
};

/** What OpenSSL says of an answer that is not encrypted. */
const notEncrypted = /wrong version number|packet length too long|http request/i;

/** What such an error means; undefined for other errors. */
export function systemText(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, path, syscall, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return systemText(error.cause);
  if (/^(EPROTO$|ERR_SSL_)/.test(code) && notEncrypted.test(message))
    return `the port does not speak TLS: write http:// or ws:// for it, or name its TLS port (${code})`;
  if (code === 'EACCES' && syscall === 'listen') return `ports below 1024 need root (${code})`;
  if (code === 'ENOSPC' && syscall === 'watch')
    return `too many files are watched: raise fs.inotify.max_user_watches (${code})`;
  const meaning = Object.hasOwn(meanings, code) ? meanings[code]?.(path ?? 'it') : undefined;
  return meaning === undefined ? undefined : `${meaning} (${code})`;
}

/** Whether it is about a file or a port that the user named or gave rights to, and no fault of the program. */
export const isEnvironmentError = (error: unknown): boolean =>
  error instanceof Error &&
  /^(EACCES|EPERM|EROFS|EISDIR|ENOTDIR|EDQUOT|EIO|EMFILE|EADDRINUSE|EADDRNOTAVAIL)$/.test(
    (error as NodeJS.ErrnoException).code ?? '',
  );
