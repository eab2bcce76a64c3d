/**
 * A log file that is rotated by size and by day. `sluice.log` has the newest lines, `sluice.log.1` those before, up to `maxFiles`.
 *
 * Line by line and at once: lines are few, and the last ones before an end are the ones that matter. It throws nothing after it was opened: trading
 * goes on without a log (docs/decisions/).
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { machineWall } from '../../clock/clock.ts';

export interface Rotation {
  readonly maxBytes: number;
  /** Rotated files that are kept, and the age at which one is deleted. */
  readonly maxFiles: number;
  readonly maxDays: number;
}

const dayMs = 86_400_000;
const openFlags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

export class LogFile {
  readonly #path: string;
  /** Holds from the next line on. */
  rotation: Rotation;
  readonly #now: () => number;
  #fd: number;
  #bytes = 0;
  /** UTC day of the last line. */
  #day = 0;
  /** The last line was cut off by a full disk. */
  #isTorn = false;
  #lost = 0;

  /** Throws where the file cannot be opened. `now`: UTC ms. */
  constructor(path: string, rotation: Rotation, now: () => number = machineWall) {
    this.#path = path;
    this.rotation = rotation;
    this.#now = now;
    this.#fd = openSync(path, openFlags, 0o600);
    this.#measure();
  }

  /** Lines that could not be written since the start. */
  get lost(): number {
    return this.#lost;
  }

  /** Appends a line; false where it is lost, as on a full disk. */
  write(line: string): boolean {
    this.#rotateIfDue();
    const text = `${this.#isTorn ? '\n' : ''}${line}`;
    const size = Buffer.byteLength(text);
    let written = 0;
    try {
      written = writeSync(this.#fd, text);
    } catch {
      // The journal is on the same disk and reports it.
    }
    this.#bytes += written;
    if (written > 0) this.#isTorn = written < size;
    const isWhole = written === size;
    if (!isWhole) this.#lost++;
    return isWhole;
  }

  /** Opens the file by its name: another program may have moved it. The old one stays in use where that fails; gives why. */
  reopen(): string | undefined {
    try {
      const fd = openSync(this.#path, openFlags, 0o600);
      closeSync(this.#fd);
      this.#fd = fd;
      this.#measure();
      return undefined;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? String(error);
    }
  }

  #measure(): void {
    const { size, mtimeMs } = fstatSync(this.#fd);
    this.#bytes = size;
    this.#day = Math.floor((size === 0 ? this.#now() : mtimeMs) / dayMs);
  }

  #rotateIfDue(): void {
    const day = Math.floor(this.#now() / dayMs);
    if (this.#bytes < this.rotation.maxBytes && day === this.#day) return;
    this.#day = day;
    if (this.#bytes === 0) return;
    try {
      // Another start may have rotated it, or the operator.
      if (statSync(this.#path).ino === fstatSync(this.#fd).ino) this.#shift();
    } catch {
      // It grows on; the next line tries again.
    }
    this.reopen();
  }

  /** Makes each file one older, and deletes those that are too many or too old. */
  #shift(): void {
    const { maxFiles, maxDays } = this.rotation;
    const oldest = this.#now() - maxDays * dayMs;
    for (const [number, name] of this.#rotated())
      if (number >= maxFiles || statSync(name).mtimeMs < oldest) rmSync(name, { force: true });
      else renameSync(name, `${this.#path}.${number + 1}`);
    renameSync(this.#path, `${this.#path}.1`);
  }

  /** Rotated files by their number, the oldest first. */
  #rotated(): readonly (readonly [number, string])[] {
    const [dir, own] = [dirname(this.#path), `${basename(this.#path)}.`];
    return readdirSync(dir)
      .filter((name) => name.startsWith(own) && /^[1-9]\d{0,8}$/.test(name.slice(own.length)))
      .map((name) => [Number(name.slice(own.length)), join(dir, name)] as const)
      .sort(([a], [b]) => b - a);
  }
}
