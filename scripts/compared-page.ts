/** `npm run docs`: writes `docs/explanation/compared.md` from runs of every ruleset over recorded klines. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { comparedPage } from '../test/kit/compared-page.ts';

writeFileSync(fileURLToPath(new URL('../docs/explanation/compared.md', import.meta.url)), comparedPage());
