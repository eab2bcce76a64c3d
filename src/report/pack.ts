/** Columns of whole numbers in few characters: differences, as many bytes as they need, deflated, as base64. */
import { deflateRawSync } from 'node:zlib';

export class Packer {
  #bytes = Buffer.allocUnsafe(1 << 16);
  #length = 0;

  /** A whole number of at most 2^52. */
  put(value: number): void {
    if (this.#length + 10 > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * this.#bytes.length);
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    // The sign goes into the lowest bit: numbers near zero stay short on either side.
    let rest = value < 0 ? -2 * value - 1 : 2 * value;
    while (rest >= 128) {
      this.#bytes[this.#length++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#length++] = rest;
  }

  packed(): string {
    return deflateRawSync(this.#bytes.subarray(0, this.#length), { level: 5 }).toString('base64');
  }
}
