/** The exchange settings in a file of markets: users, fees, limits, assets and quirks. */
import { z } from 'zod';
import { Refusal } from '../../domain/refusal.ts';
import { type Quirks, quirksOf, type SimulatorOptions } from '../../simulator/simulator.ts';

/** As exact as the money of the exchange. */
const amount = z
  .string()
  .regex(/^\d{1,24}(\.\d{1,18})?$/, "must be a decimal number in quotes with at most 18 decimals, such as '0.12'");
const fraction = z
  .string()
  .regex(/^0(\.\d{1,8})?$/, "must be a fraction in quotes, below 1 and with at most 8 decimals, such as '0.002'");
const amounts = z.record(z.string().min(1), amount);

const key = {
  key: z.string().regex(/^[\w.-]{1,128}$/, 'must be 1 to 128 letters, digits, _ . or -'),
  secret: z.string().min(1),
  permissions: z.array(z.enum(['read', 'trade', 'withdraw'])).exactOptional(),
  addresses: z.array(z.string().min(1)).exactOptional(),
};
const user = z.strictObject({
  uid: z.string().regex(/^\d{1,18}$/, "must be digits in quotes, such as '10001'"),
  ...key,
  keys: z.array(z.strictObject(key)).exactOptional(),
  balances: amounts.default({}),
  margin: amounts.exactOptional(),
});

/** Refuses a second user with the same uid or key. */
const users = z
  .array(user)
  .min(1)
  .superRefine((list, context) => {
    const seen = new Set<string>();
    const once = (name: string, message: string, path: (string | number)[]): void => {
      if (seen.has(name)) context.addIssue({ code: 'custom', path, message });
      seen.add(name);
    };
    for (const [index, { uid, key: first, keys = [] }] of list.entries()) {
      once(`uid ${uid}`, `user ${uid} is defined twice`, [index, 'uid']);
      once(`key ${first}`, `key ${first} is defined twice`, [index, 'key']);
      for (const [at, one] of keys.entries())
        once(`key ${one.key}`, `key ${one.key} is defined twice`, [index, 'keys', at, 'key']);
    }
  });

const asset = z.strictObject({
  asset: z.string().min(1).exactOptional(),
  name: z.string().exactOptional(),
  unifiedId: z.string().exactOptional(),
  fee: amount.exactOptional(),
  minWithdraw: amount.exactOptional(),
  maxWithdraw: amount.exactOptional(),
  canWithdraw: z.boolean().exactOptional(),
  canDeposit: z.boolean().exactOptional(),
});

const quirks = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .superRefine((switches, context) => {
    for (const [name, position] of Object.entries(switches)) {
      const wrong = whyNoQuirk({ [name]: position });
      if (wrong !== undefined) context.addIssue({ code: 'custom', path: [name], message: wrong });
    }
  })
  .transform((switches): Partial<Quirks> => switches);

function whyNoQuirk(one: Partial<Quirks>): string | undefined {
  try {
    quirksOf('documented', one);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

const weight = z.int().min(1).max(1_000_000_000);

/** The keys beside `markets`. */
export const exchangeTerms = {
  users: users.exactOptional(),
  fees: z.strictObject({ maker: fraction, taker: fraction }).exactOptional(),
  limits: z
    .strictObject({ ipWeightPerMinute: weight.exactOptional(), uidWeightPerMinute: weight.exactOptional() })
    .exactOptional(),
  assets: z.record(z.string().min(1), asset).exactOptional(),
  quirks: quirks.exactOptional(),
};

/** The parsed terms; the exchange has defaults for the others. */
export type ExchangeTerms = Partial<Pick<SimulatorOptions, keyof typeof exchangeTerms>>;
