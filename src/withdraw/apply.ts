/** Sends one application for a withdrawal, once, and says what is known of it. */
import { type Units, unitsText } from '../domain/money.ts';
import { idOf, isFields } from '../venue/exchange/json.ts';
import type { Reply } from '../venue/exchange/reply.ts';
import type { Rest } from '../venue/exchange/rest.ts';
import { withdrawApply } from './endpoint.ts';

export interface Application {
  /** Ours, unique for good. */
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
 * The exchange may have passed the application on before it gave one of these: its inside failed, its limits spoke, or it knows
 * the id already, so that an earlier application was taken. Any other code under an answer is a failure (§4.5, §7).
 */
const undecidedCodes: ReadonlySet<string> = new Set([
  '-1000',
  '-1001',
  '-1003',
  '-1006',
  '-1007',
  '-1016',
  '-2018',
  '1',
]);

/** Takes the weight, sends, never repeats. The caller has journalled the application before. */
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

/** `{"code":"0","msg":"suc","data":{"id":183745}}`. A success without a readable id is a success: the query tells the id. */
function outcomeOf(reply: Reply): ApplyOutcome {
  if (reply.kind === 'notSent') return reply;
  if (reply.kind === 'unclear') return { kind: 'unknown', cause: reply.cause };
  if (reply.kind === 'ok') {
    const { value } = reply;
    if (!isFields(value) || !('id' in value)) return { kind: 'unknown', cause: 'the answer holds no withdrawal' };
    return { kind: 'accepted', id: idOf(value['id']) };
  }
  const { code, message } = reply;
  return undecidedCodes.has(code) ? { kind: 'unknown', cause: `code ${code} ${message}`.trimEnd() } : reply;
}
