/** Writes docs/reference/fault-plans.md anew: `node scripts/fault-plans.ts`. A test fails while the page is not this. */
import { writeFileSync } from 'node:fs';
import { faultPlansPage } from '../test/kit/fault-plans-page.ts';

writeFileSync(new URL('../docs/reference/fault-plans.md', import.meta.url), faultPlansPage());
