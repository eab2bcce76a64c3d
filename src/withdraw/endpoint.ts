/** The one operation that moves money out (specification §4.5). No other file of the client knows its path (oxlint.config.ts). */
import type { Endpoint } from '../venue/exchange/rest/endpoints.ts';

export const withdrawApply: Endpoint = {
  name: 'withdrawal apply',
  method: 'POST',
  path: '/sapi/v1/withdraw/apply',
  security: 'TRADE',
  weight: 100,
};
