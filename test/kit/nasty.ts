/** Makes bad messages out of good ones: truncated, deep, huge, of wrong types, with prototype keys, invalid UTF-8, as gzip bombs. */
import { deflateSync, gzipSync } from 'node:zlib';
import type { Rng } from '../../src/clock/clock.ts';

export const pick = <T>(rng: Rng, list: readonly T[]): T => list[Math.floor(rng() * list.length)] as T;

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const deepKeys = (levels: number): string => `${'{"tick":'.repeat(levels)}0${'}'.repeat(levels)}`;

/** JSON texts to put where a value stood. */
const values: readonly ((rng: Rng) => string)[] = [
  () => 'null',
  () => 'true',
  () => '""',
  () => '[]',
  () => '{}',
  () => '-1',
  () => '0',
  () => '1e308',
  () => '1e999',
  () => '-0',
  () => '"1e999999999"',
  () => '1E+400000',
  () => '"NaN"',
  () => '"Infinity"',
  () => '"0x10"',
  () => '" "',
  () => '19383211630930776861938321163093077686',
  () => '"0E-16"',
  () => '0.00000000000000000000000000000000000000001',
  () => '[1938321163093077686]',
  () => '{"__proto__":{"status":"FILLED"},"constructor":{"prototype":{}}}',
  () => '"__proto__"',
  () => '"toString"',
  () => `"${'9'.repeat(5_000)}"`,
  () => '9'.repeat(5_000),
  () => `"${'x'.repeat(200_000)}"`,
  () => deep(5_000),
  () => deepKeys(5_000),
  () => `[${'[1,1],'.repeat(3_000)}[1,1]]`,
  (rng) => `${Math.floor(rng() * 4e12)}`,
  (rng) => JSON.stringify(String.fromCharCode(...Array.from({ length: 8 }, () => Math.floor(rng() * 65_536)))),
];

/** A time that is none, behind one that is (UTC ms): in microseconds, in another century, off every grid, beyond all numbers. */
export const absurdTime = (rng: Rng, time: number): string =>
  pick(rng, [
    `${time * 1_000}`,
    `${time * 1_000_000}`,
    `${time / 1_000 + 1}`,
    `${time + 1}`,
    `${time + 7 * 60_000}`,
    '4102444800',
    '4102444800000',
    '1e18',
    '1e21',
    '1e300',
    '60',
    '-1',
    '0.5',
  ]);

/** A text like a good one, with one or a few of its values, keys or characters changed. */
export function spoiltText(rng: Rng, good: string): string {
  let text = good;
  for (let left = 1 + Math.floor(rng() * 3); left > 0; left--) text = pick(rng, changes)(rng, text);
  return text;
}

const scalars = /"(?:[^"\\]|\\.)*"(?!\s*:)|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|\[\]|\{\}/g;
const keys = /"(?:[^"\\]|\\.)*"(?=\s*:)/g;

function replaceOne(rng: Rng, text: string, pattern: RegExp, by: string): string {
  const found = [...text.matchAll(pattern)];
  const one = found.length === 0 ? undefined : pick(rng, found);
  return one === undefined ? text : text.slice(0, one.index) + by + text.slice(one.index + one[0].length);
}

const changes: readonly ((rng: Rng, text: string) => string)[] = [
  (rng, text) => replaceOne(rng, text, scalars, pick(rng, values)(rng)),
  (rng, text) => replaceOne(rng, text, scalars, pick(rng, values)(rng)),
  (rng, text) => replaceOne(rng, text, scalars, pick(rng, values)(rng)),
  (rng, text) => replaceOne(rng, text, scalars, pick(rng, values)(rng)),
  (rng, text) =>
    replaceOne(rng, text, keys, pick(rng, ['"__proto__"', '"constructor"', '"code"', '"data"', '"list"', '""'])),
  (rng, text) => text.slice(0, Math.floor(rng() * text.length)),
  (rng, text) => {
    const at = Math.floor(rng() * text.length);
    return text.slice(0, at) + String.fromCharCode(Math.floor(rng() * 128)) + text.slice(at + 1);
  },
  (rng, text) => pick(rng, ['', '<html>502</html>', 'null', '7', '"x"', '[]', '{}', `\uFEFF${text}`, text + text]),
  (rng, text) =>
    pick(rng, [`{"code":0,"data":${text}}`, `{"list":${text}}`, `[${text}]`, `{"code":"-1000","msg":${text}}`]),
];

const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024, ' '));
const zlibBomb = deflateSync(Buffer.alloc(20 * 1024 * 1024, '['));

/** A good text as the bytes of a frame, mostly spoilt somewhere on the way. */
export function spoiltBytes(rng: Rng, good: string): Buffer {
  const turn = rng();
  if (turn < 0.02)
    return pick(rng, [bomb, zlibBomb, bomb.subarray(0, 1_000), Buffer.alloc(0), Buffer.alloc(1_100_000, 'x')]);
  const plain = Buffer.from(turn < 0.2 ? good : spoiltText(rng, good));
  if (turn > 0.9 && plain.length > 0) plain[Math.floor(rng() * plain.length)] = pick(rng, [0xff, 0xc3, 0xed, 0x00]);
  const packed = pick(rng, [gzipSync, deflateSync, (bytes: Buffer) => bytes])(plain);
  if (turn < 0.85 || packed.length === 0) return packed;
  if (rng() < 0.5) return packed.subarray(0, Math.floor(rng() * packed.length));
  const broken = Buffer.from(packed);
  broken[Math.floor(rng() * broken.length)] = Math.floor(rng() * 256);
  return broken;
}
