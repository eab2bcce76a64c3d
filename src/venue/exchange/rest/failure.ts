/** From a reply that is no value to a failure that says what was asked. */
import { type Failure, failed } from '../../venue.ts';
import type { Endpoint } from './endpoints.ts';
import type { Reply } from './reply.ts';

export function failure(endpoint: Endpoint, reply: Exclude<Reply, { kind: 'ok' }>): Failure {
  if (reply.kind === 'refused') {
    return failed(`${endpoint.name}: the exchange answered code ${reply.code} ${reply.message}`.trimEnd(), reply.code);
  }
  return failed(`${endpoint.name}: ${reply.cause}`);
}
