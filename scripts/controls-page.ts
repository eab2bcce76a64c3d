/** `npm run docs`: writes `docs/reference/controls.md` from the list of `src/risk/control-list.ts`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { controlsPage } from '../test/kit/controls-page.ts';

writeFileSync(fileURLToPath(new URL('../docs/reference/controls.md', import.meta.url)), controlsPage());
