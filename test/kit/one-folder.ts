import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** All that a run of the tests puts down for a while lies in one folder, which goes with the run: it came to gigabytes in `/tmp`. */
export default function oneFolder(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tests-'));
  process.env['TMPDIR'] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
