/** Refusals by code. The text is for people; clients match on the code. */
export interface Refusal {
  readonly code: number;
  readonly msg: string;
  /** HTTP status in the documented profile. */
  readonly status: number;
  /** The code of the matching engine that leaks on live venues in place of the documented one. */
  readonly engine?: number;
}

const refusal = (code: number, msg: string, status = 400): Refusal => ({ code, msg, status });
const leaking = (engine: number, code: number, msg: string): Refusal => ({ ...refusal(code, msg), engine });

export const refusals = {
  unknownPath: refusal(-1002, 'You are not authorized to execute this request.', 404),
  noKey: refusal(-1002, 'You are not authorized to execute this request: header X-CH-APIKEY is missing.', 401),
  noTimestamp: refusal(-1023, 'Header X-CH-TS is missing.'),
  noSignature: refusal(-1024, 'Header X-CH-SIGN is missing.'),
  keyFormat: refusal(-2014, 'API-key format invalid.', 401),
  wrongKey: refusal(-2015, 'Invalid API-key, IP, or permissions for action.', 401),
  wrongSignature: refusal(-1022, 'Signature for this request is not valid.', 401),
  late: refusal(-1021, 'Timestamp for this request is outside of the recvWindow.'),
  early: refusal(-1021, "Timestamp for this request was 1000ms ahead of the server's time."),
  tooMany: refusal(-1003, 'Requests exceed the limit too frequently.', 429),
  banned: refusal(-1003, 'Requests exceed the limit too frequently: the IP is banned.', 418),
  tooLarge: refusal(-1100, 'The request body is larger than 1 MiB.', 413),
  notJson: refusal(-1100, 'The request body is not a JSON object.'),
  unknownParameter: refusal(-1103, 'An unknown parameter was sent.'),
  wrongNumber: refusal(-1000, 'A parameter is not a number.'),
  symbol: refusal(-1121, 'Invalid symbol.'),
  precision: leaking(10_062, -1111, 'Precision is over the maximum defined for this asset.'),
  type: refusal(-1116, 'Invalid orderType.'),
  side: refusal(-1117, 'Invalid side.'),
  belowMinimum: leaking(110_046, -1136, 'Order volume lower than the minimum.'),
  belowAmount: leaking(110_047, -1136, 'Order amount lower than the minimum.'),
  price: refusal(-1138, 'Order price exceeds permissible range.'),
  funds: leaking(110_049, -2017, 'Insufficient balance.'),
  orderId: leaking(1, -1100, "Illegal characters found in parameter 'orderId'."),
  noOrder: refusal(-2013, 'Order does not exist.'),
  notCancellable: refusal(-1145, 'This order does not support cancellation: it has already ended.'),
  clientId: refusal(-1100, 'newClientOrderId is longer than 64 characters.'),
  marginClientId: refusal(-1100, 'newClientOrderId is longer than the 32 characters of margin orders.'),
  openOrders: refusal(-1015, 'Too many new orders: 10000 are open.'),
  batchSize: refusal(-1015, 'Too many orders: a batch takes 1 to 10.'),
  frozen: refusal(-2016, 'Withdrawals are frozen.'),
  repeatedWithdrawal: refusal(-2018, 'A withdrawal with this withdrawOrderId exists already.'),
  withdrawalTooLarge: refusal(-2026, 'The amount is larger than may be withdrawn.'),
} as const satisfies Readonly<Record<string, Refusal>>;

export const missing = (name: string): Refusal => refusal(-1102, `Mandatory parameter '${name}' was not sent.`);
export const empty = (name: string): Refusal => refusal(-1105, `Parameter '${name}' was empty.`);
export const malformed = (name: string): Refusal => refusal(-1100, `Illegal characters found in parameter '${name}'.`);

/** The result of a request: a value, or a refusal with its code. */
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };
export const done = <T>(value: T): Result<T> => ({ ok: true, value });
export const refuse = <T>(why: Refusal): Result<T> => ({ ok: false, refusal: why });
