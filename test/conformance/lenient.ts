/** Reads what exchanges write differently, so that the suite can go on: it throws nothing and judges nothing. */
import type { Reply } from './http.ts';
import type { Fields } from './shape.ts';

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSuccess = (code: unknown): boolean => Number(code) === 0 || Number(code) === 200;

/** Whether it is `{code, msg, data}` around the reply proper. */
export const isEnveloped = (value: unknown): value is Fields =>
  isFields(value) && 'data' in value && isSuccess(value['code']);

export const unwrapped = (value: unknown): unknown => (isEnveloped(value) ? value['data'] : value);

/** Whether the exchange refused, under whichever HTTP status. */
export const isRefusal = ({ status, value }: Reply): boolean =>
  (status >= 400 && status < 500) || (isFields(value) && 'code' in value && !isSuccess(value['code']));

/** Rows under an envelope, under `list` or bare; none where the list is null. Undefined where there is no list. */
export function rowsIn(value: unknown): readonly Fields[] | undefined {
  const inner = unwrapped(value);
  if (inner === null) return [];
  if (Array.isArray(inner)) return inner.filter(isFields);
  return isFields(inner) && 'list' in inner ? rowsIn(inner['list']) : undefined;
}

/** An id as text: from text, a long, or a list of one. Undefined where it is none, or a number that has lost digits. */
export function idIn(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.length === 1 ? idIn(value[0]) : undefined;
  const isLong = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
  const id = isLong ? String(value) : value;
  return typeof id === 'string' && /^[\w-]+$/.test(id) && id !== '0' ? id : undefined;
}

export const orderIdIn = (row: Fields): string | undefined => idIn(row['orderIdString']) ?? idIn(row['orderId']);

/** Ids of the orders that a reply to a create or to a batch names. */
export function orderIdsIn(value: unknown): readonly string[] {
  const inner = unwrapped(value);
  if (!isFields(inner)) return [];
  const lists = [inner['idsString'], inner['ids']].map((list) =>
    (Array.isArray(list) ? list : []).flatMap((one: unknown) => idIn(one) ?? []),
  );
  const named = lists.find((list) => list.length > 0);
  return named ?? [orderIdIn(inner) ?? []].flat();
}

/** UNIX time in ms: from ms or seconds, as text or number. */
export function msIn(value: unknown): number | undefined {
  const read = Number(value ?? Number.NaN);
  if (read > 1_262_304_000 && read < 4_102_444_800) return read * 1_000;
  return read > 1_262_304_000_000 && read < 4_102_444_800_000 ? read : undefined;
}

export const orderStates = ['NEW', 'PARTIALLY_FILLED', 'FILLED', 'CANCELED', 'REJECTED'] as const;
export type OrderState = (typeof orderStates)[number];

/** The spellings of live exchanges and the integers of older ones. */
const spellings: readonly (readonly [pattern: RegExp, state: OrderState])[] = [
  [
    /^(partially_filled_cancel(ed|led)?|partially filled\/cancell?ed|part_cancell?ed|cancell?ed|expired|4|6)$/i,
    'CANCELED',
  ],
  [/^(new|new order|new_|init|pending_cancel|to be cancell?ed|0|1|5)$/i, 'NEW'],
  [/^(partially[_ ]filled|part_filled|3)$/i, 'PARTIALLY_FILLED'],
  [/^(filled|2)$/i, 'FILLED'],
  [/^rejected$/i, 'REJECTED'],
];

/** What stands for a cancel that goes on counts as `NEW`. Undefined for a spelling that nobody has seen. */
export const orderStateIn = (status: unknown): OrderState | undefined =>
  spellings.find(([pattern]) => pattern.test(String(status)))?.[1];
