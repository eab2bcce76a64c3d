/** The one request that moves money out (specification §4.5). No other file of the client knows its path (oxlint.config.ts). */
import { type Units, unitsText } from '../domain/money.ts';
import type { Endpoint } from '../venue/exchange/rest/endpoints.ts';
import { idOf, isFields } from '../venue/exchange/rest/json.ts';
import type { Reply } from '../venue/exchange/rest/reply.ts';
import type { Rest } from '../venue/exchange/rest/rest.ts';

export const withdrawApply: Endpoint = {
  name: 'withdrawal apply',
  method: 'POST',
  path: '/sapi/v1/withdraw/apply',
  security: 'TRADE',
  weight: 100,
};

export interface Application {
  /** Our id, never used twice. */
  readonly withdrawOrderId: string;
  /** The currency as the exchange names it, with the chain's name where there are several. */
  readonly asset: string;
  readonly amount: Units;
  readonly address: string;
  /** Memo or tag, for currencies that use one. */
  readonly label: string | undefined;
}

export type ApplyOutcome =
  | { readonly kind: 'accepted'; readonly id: string | undefined }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | { readonly kind: 'notSent'; readonly cause: string }
  | { readonly kind: 'unknown'; readonly cause: string };

/**
 * Codes that prove that there is no withdrawal. Users answer a refusal by applying again, so a wrong code here pays twice. Every other answer may
 * come after the application was passed on: one that contradicts itself (`code` 0 with `succ` false), a gateway's status as a code, an
 * undocumented code.
 */
const decidedCodes: ReadonlySet<string> = new Set([
  ...['-1002', '-1004', '-1021', '-1022', '-1023', '-1024', '-2014', '-2015', '-2021', '-2200'], // key, address, time, signature
  ...['40', '10004', '10005', '10006'], // the same in the words of the inside
  ...['-1017', '-1020', '-1100', '-1101', '-1102', '-1103', '-1104', '-1105', '-1106', '-2100'], // the form of the request
  ...['-1111', '-1121', '-1136', '-2016', '-2026', '10062', '110046', '110047'], // currency, precision, minimum, frozen, maximum
  ...['-2017', '110049'], // funds
]);

/** Sends the application once. The caller has journalled it. */
export async function applyFor(rest: Rest, application: Application): Promise<ApplyOutcome> {
  return outcomeOf(await rest.call({ endpoint: withdrawApply, lane: 'create', body: bodyOf(application) }));
}

/** `{"withdrawOrderId":"w…","amount":"25.5","address":"T…","symbol":"TUSDT","label":"7"}` */
export const bodyOf = ({ withdrawOrderId, asset, amount, address, label }: Application): string =>
  JSON.stringify({
    withdrawOrderId,
    amount: unitsText(amount),
    address,
    symbol: asset,
    ...(label !== undefined && { label }),
  });

/** `{"code":"0","msg":"suc","data":{"id":183745}}`. A success without a readable id is a success: the query returns the id. */
function outcomeOf(reply: Reply): ApplyOutcome {
  if (reply.kind === 'notSent') return reply;
  if (reply.kind === 'unclear') return { kind: 'unknown', cause: reply.cause };
  if (reply.kind === 'ok') {
    const { value } = reply;
    if (!isFields(value) || !('id' in value)) return { kind: 'unknown', cause: 'the answer holds no withdrawal' };
    return { kind: 'accepted', id: idOf(value['id']) };
  }
  const { code, message } = reply;
  if (decidedCodes.has(code)) return reply;
  return { kind: 'unknown', cause: `the answer leaves the outcome open: code ${code} ${message}`.trimEnd() };
}
