/** The file of instruments that offline data are traded as (`config/instruments.yaml`). */
import { z } from 'zod';
import { type Instrument, instrument } from '../domain/instrument.ts';
import { lots, MoneyError, noLots, noUnits, units } from '../domain/money.ts';

const decimal = z
  .string({
    error: ({ input }) =>
      typeof input === 'number'
        ? `must be in quotes: '${input}' (without them YAML reads a binary number and digits can be lost)`
        : "must be a decimal number in quotes, such as '0.001'",
  })
  .regex(/^\d+(\.\d+)?$/, "must be a decimal number without sign or exponent, such as '0.001'");

const asset = z.string().regex(/^[A-Z0-9]{1,20}$/, 'must be upper case letters and digits, such as BTC');
const fewPlaces = 'must be a number of decimal places from 0 to 18';
const places = z.int('must be a whole number of decimal places').min(0, fewPlaces).max(18, fewPlaces);

const entry = z.strictObject({
  base: asset,
  quote: asset,
  pricePrecision: places,
  quantityPrecision: places,
  minQuantity: decimal.optional(),
  minNotional: decimal.optional(),
});

function toInstrument(symbol: string, { minQuantity, minNotional, ...given }: z.output<typeof entry>): Instrument {
  return instrument({
    symbol,
    ...given,
    minQuantity: minQuantity === undefined ? noLots : lots(minQuantity, given),
    minNotional: minNotional === undefined ? noUnits : units(minNotional),
  });
}

/** What the file may say; the result is a map from symbol to instrument. Unknown keys and minima finer than a lot are refused. */
export const instrumentsSchema = z
  .record(z.string().regex(/^[A-Z0-9]{2,30}$/), entry, {
    error: ({ code }) =>
      code === 'invalid_key' ? 'must be a symbol: 2 to 30 upper case letters and digits, such as BTCUSDT' : undefined,
  })
  .transform((given, context): ReadonlyMap<string, Instrument> => {
    const found = new Map<string, Instrument>();
    for (const [symbol, value] of Object.entries(given)) {
      try {
        found.set(symbol, toInstrument(symbol, value));
      } catch (error) {
        if (!(error instanceof RangeError || error instanceof MoneyError)) throw error;
        context.addIssue({ code: 'custom', message: error.message, path: [symbol] });
      }
    }
    return found;
  });
