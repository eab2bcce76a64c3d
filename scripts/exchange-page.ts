/**
 * `npm run docs`: writes `docs/reference/exchange.md` from the tables of operations. `test/pages/exchange-page.test.ts` fails when the
 * page is stale.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { exchangePage } from '../test/kit/exchange-page.ts';

writeFileSync(fileURLToPath(new URL('../docs/reference/exchange.md', import.meta.url)), exchangePage());
