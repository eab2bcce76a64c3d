/** `npm run docs`: writes `docs/reference/order-states.md` from the table of `src/execution/states.ts`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { orderStatesPage } from '../test/kit/order-states-page.ts';

writeFileSync(fileURLToPath(new URL('../docs/reference/order-states.md', import.meta.url)), orderStatesPage());
