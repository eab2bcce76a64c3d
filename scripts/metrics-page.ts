/** `npm run docs`: writes `docs/reference/metrics.md` from `src/session/metrics/definitions.ts`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { metricsPage } from '../test/kit/metrics-page.ts';

writeFileSync(fileURLToPath(new URL('../docs/reference/metrics.md', import.meta.url)), await metricsPage());
