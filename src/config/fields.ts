/** The kinds of value in a configuration: money, symbols, intervals. Each says what is wrong with one. */
import { z } from 'zod';
import { allIntervals } from '../domain/interval.ts';
import { type Rate, rate, rateNumber, type Units, units } from '../domain/money.ts';

/** A decimal in quotes: unquoted, YAML makes a binary number of it and digits can change. */
const decimalText = z.string({
  error: (issue) =>
    typeof issue.input === 'number'
      ? `must be in quotes: "${issue.input}" (without them YAML reads a binary number and digits can be lost)`
      : 'must be a decimal number in quotes, such as "0.10"',
});
// The first fault is enough: what is no decimal has no decimals to count.
export const plainDecimal = decimalText.regex(/^\d+(\.\d+)?$/, {
  error: ({ input }) =>
    `must be a decimal number without sign or exponent, such as "0.10", not ${JSON.stringify(input)}`,
  abort: true,
});

export const amount = plainDecimal
  .regex(/^\d+(\.\d{1,18})?$/, 'may have at most 18 decimals')
  .transform((text): Units => units(text));
export const fraction = plainDecimal
  .regex(/^(0(\.\d{1,8})?|1(\.0{1,8})?)$/, 'must be a fraction from "0" to "1" with at most 8 decimals')
  .transform((text): Rate => rate(text));
/** Exchanges ask for thousandths: what is written in percent would eat an account, and its run say of each strategy that it lost. */
export const feeRate = fraction.superRefine((fee, issues) => {
  if (fee > rate('0.02'))
    issues.addIssue(
      `is ${(rateNumber(fee) * 100).toLocaleString('en')} % of each trade, where at most 2 % are taken: 0.1 % is "0.001"`,
    );
});
export const cash = amount.refine((start) => start > 0n, 'must be above "0": it is what the account begins with');
/** What no order may exceed. */
export const limit = amount.refine((most) => most > 0n, 'must be above "0": with it every order would be refused');
export const positiveMs = z.int().min(1).max(86_400_000);
export const count = z.int().min(1).max(1_000_000);

export const url = (kinds: readonly string[]) =>
  z
    .string()
    .refine(
      (text) => URL.canParse(text) && kinds.includes(new URL(text).protocol),
      `must be an address that begins with ${kinds.map((kind) => `${kind}//`).join(' or ')}`,
    );

export const symbol = z.string().regex(/^[A-Z0-9]{2,30}$/, 'must be upper case letters and digits, such as BTCUSDT');

export const bySymbol = <S extends z.ZodType>(of: S) =>
  z.record(symbol, of, {
    error: ({ code }) =>
      code === 'invalid_key' ? 'must be a symbol: 2 to 30 upper case letters and digits, such as BTCUSDT' : undefined,
  });

export const asset = z.string().regex(/^[A-Z0-9]{1,20}$/, 'must be upper case letters and digits, such as USDT');

export const interval = z.enum(allIntervals);
