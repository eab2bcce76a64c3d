import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { quantityText, unitsText } from '../domain/money.ts';
import { instrumentsSchema } from './instruments.ts';

const file = new URL('../../config/instruments.yaml', import.meta.url);
const problems = (yaml: string): string[] =>
  instrumentsSchema.safeParse(parse(yaml)).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ??
  [];

const good = `{ base: BTC, quote: USDT, pricePrecision: 2, quantityPrecision: 5, minQuantity: '0.00001', minNotional: '5' }`;

test('the shipped file gives the instruments of the bundled data', () => {
  const instruments = instrumentsSchema.parse(parse(readFileSync(file, 'utf8')));
  expect([...instruments.keys()]).toEqual(['XBTUSD', 'BTCUSDT', 'ETHUSDT', 'TRXUSDT', 'BTCUSD']);
  const btc = instruments.get('BTCUSDT');
  if (btc === undefined) throw new Error('BTCUSDT is missing');
  expect(btc).toMatchObject({ symbol: 'BTCUSDT', base: 'BTC', quote: 'USDT', pricePrecision: 2, quantityPrecision: 5 });
  expect([quantityText(btc.minQuantity, btc), unitsText(btc.minNotional)]).toEqual(['0.00001', '5']);
});

test('what is left out is no minimum', () => {
  const found = instrumentsSchema.parse(parse('AB: { base: A, quote: B, pricePrecision: 2, quantityPrecision: 5 }'));
  expect(found.get('AB')).toMatchObject({ minQuantity: 0n, minNotional: 0n });
});

test.each([
  ['a misspelt key', good.replace('minQuantity', 'minQuantitty'), /Unrecognized key: "minQuantitty"/],
  ['a decimal without quotes', good.replace("'0.00001'", '0.00001'), /must be in quotes: '0.00001'/],
  ['a minimum finer than a lot', good.replace("'0.00001'", "'0.000001'"), /0.000001 has more than 5 decimals/],
  [
    'precisions that cannot be kept exact',
    good.replace('pricePrecision: 2', 'pricePrecision: 14'),
    /at most 18 can be kept exact/,
  ],
  ['a precision beyond all', good.replace('pricePrecision: 2', 'pricePrecision: 80'), /decimal places from 0 to 18/],
  ['a missing key', good.replace('quote: USDT, ', ''), /^BTCUSDT.quote/],
])('%s is refused', (_, text, message) => {
  expect(problems(`BTCUSDT: ${text}`).join('\n')).toMatch(message);
});

test.each(['X', 'btcusdt', '../x'])('a symbol %j is refused, in words', (symbol) => {
  expect(problems(`${symbol}: ${good}`)).toEqual([
    `${symbol}: must be a symbol: 2 to 30 upper case letters and digits, such as BTCUSDT`,
  ]);
});
