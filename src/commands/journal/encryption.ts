/**
 * Encrypts a file with a passphrase: scrypt makes the key, AES-256-GCM encrypts blocks of 64 KiB. Each block has a number, and the last one
 * says that it is the last, so that blocks cannot be moved, repeated or cut off unnoticed. A file is read and written block by block.
 */
import { createCipheriv, createDecipheriv, createHash, type DecipherGCM, randomBytes, scryptSync } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { Refusal } from '../../domain/refusal.ts';

/** What an encrypted file begins with; its version is the last digit. */
const magic = Buffer.from('sluice-backup-1\n');
const [saltBytes, tagBytes, blockBytes] = [16, 16, 65_536];

/** 64 MB and about a tenth of a second for each guess of a passphrase. */
const cost = { N: 65_536, r: 8, p: 1, maxmem: 134_217_728 } as const;

const keyOf = (passphrase: string, salt: Buffer): Buffer => scryptSync(passphrase, salt, 32, cost);

/** The number of a block, and whether it is the last. The key is new for each file, so numbers never repeat under one. */
function nonceOf(block: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(block, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/** Reads up to `bytes`; fewer only at the end of the file. */
function readFull(file: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  let at = 0;
  while (at < bytes) {
    const read = readSync(file, buffer, at, bytes - at, null);
    if (read === 0) break;
    at += read;
  }
  return buffer.subarray(0, at);
}

/** The blocks of a file, each with whether it is the last; an empty file has one empty block. */
function* blocksOf(file: number, bytes: number): Iterable<{ readonly block: Buffer; readonly isLast: boolean }> {
  let block = readFull(file, bytes);
  for (;;) {
    const following = block.length < bytes ? Buffer.alloc(0) : readFull(file, bytes);
    const isLast = following.length === 0;
    yield { block, isLast };
    if (isLast) return;
    block = following;
  }
}

function inFiles<T>(from: string, to: string | undefined, work: (from: number, write: (part: Buffer) => void) => T): T {
  const source = openSync(from, 'r');
  try {
    const target = to === undefined ? undefined : openSync(to, 'wx', 0o600);
    try {
      const result = work(source, (part) => {
        for (let at = 0; target !== undefined && at < part.length; ) at += writeSync(target, part, at);
      });
      if (target !== undefined) fsyncSync(target);
      return result;
    } finally {
      if (target !== undefined) closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

/** Copies a file, encrypted with a passphrase if there is one, and returns the SHA-256 of what was read. The target must not exist. */
export const writeCopy = (from: string, to: string, passphrase: string | undefined): string =>
  inFiles(from, to, (source, write) => {
    const [hash, salt] = [createHash('sha256'), randomBytes(saltBytes)];
    const key = passphrase === undefined ? undefined : keyOf(passphrase, salt);
    if (key !== undefined) write(Buffer.concat([magic, salt]));
    let number = 0;
    for (const { block, isLast } of blocksOf(source, blockBytes)) {
      hash.update(block);
      if (key === undefined) {
        write(block);
        continue;
      }
      const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number++, isLast));
      write(Buffer.concat([cipher.update(block), cipher.final(), cipher.getAuthTag()]));
    }
    return hash.digest('hex');
  });

/**
 * Reads what `writeCopy` wrote, into a file that must not exist (or nowhere, to check it), and returns the SHA-256. Refuses (exit 2) a wrong
 * passphrase, and (exit 3) a file that was changed or cut off.
 */
export const readCopy = (from: string, to: string | undefined, passphrase: string | undefined): string =>
  inFiles(from, to, (source, write) => {
    const hash = createHash('sha256');
    if (passphrase === undefined) {
      for (const { block } of blocksOf(source, blockBytes)) {
        hash.update(block);
        write(block);
      }
      return hash.digest('hex');
    }
    const head = readFull(source, magic.length + saltBytes);
    if (!head.subarray(0, magic.length).equals(magic))
      throw new Refusal(`${from} does not begin like an encrypted backup: it is damaged, or another file`, 3);
    const key = keyOf(passphrase, head.subarray(magic.length));
    let number = 0;
    for (const { block, isLast } of blocksOf(source, blockBytes + tagBytes)) {
      const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number, isLast));
      const plain = opened(decipher, block);
      if (plain === undefined)
        throw number === 0
          ? new Refusal(`${from} cannot be decrypted: SLUICE_BACKUP_PASSPHRASE is wrong, or the file is damaged`)
          : new Refusal(`${from} is damaged or cut off after ${number * blockBytes} bytes: use another backup`, 3);
      number++;
      hash.update(plain);
      write(plain);
    }
    return hash.digest('hex');
  });

function opened(decipher: DecipherGCM, block: Buffer): Buffer | undefined {
  if (block.length < tagBytes) return undefined;
  decipher.setAuthTag(block.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(block.subarray(0, -tagBytes)), decipher.final()]);
  } catch {
    return undefined;
  }
}
