/** `sluice init NAME`: a folder with a strategy, its test and configurations. It works unedited, and nothing is overwritten. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { home } from '../../config/shipped.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Output } from '../../terminal/output.ts';
import { placeFault } from '../writable.ts';
import { firstStrategy, firstTest } from './first-strategy.ts';
import { skeleton } from './skeleton.ts';

/** Its first strategy. */
const strategy = 'above-average';

export function init(given: string, { json, out }: Output): void {
  const dir = resolve(given);
  const sluice = home();
  refuse(given, dir, sluice);
  const files = {
    ...skeleton(basename(dir), relative(dir, sluice).split(sep).join('/'), strategy),
    [`strategies/${strategy}.ts`]: firstStrategy(strategy),
    [`strategies/${strategy}.test.ts`]: firstTest(strategy),
  };
  write(dir, files);
  if (json) out(JSON.stringify({ version: 2, folder: dir, files: Object.keys(files).toSorted() }));
  else {
    out(`${given} has a strategy, its test, and configurations for backtest, paper and live. Next:`);
    out(`  cd ${given} && npm install && npm test && npm run backtest`);
  }
}

function refuse(given: string, dir: string, sluice: string): void {
  const name = basename(dir);
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name))
    throw new Refusal(
      `${given}: the name of the folder must be lower-case letters, digits and dashes, at most 64, such as my-trading`,
    );
  if (`${dir}${sep}`.startsWith(`${sluice}${sep}`))
    throw new Refusal(`${given} is inside Sluice itself (${sluice}): name a folder beside it, such as ../my-trading`);
  if (existsSync(dir)) {
    if (!statSync(dir).isDirectory()) throw new Refusal(`${given} is a file: choose another name`);
    if (readdirSync(dir).length > 0)
      throw new Refusal(
        `${given} is not empty, and nothing is overwritten: choose another name, or add a strategy to it with sluice new strategy NAME`,
      );
  }
  const fault = placeFault(dirname(dir));
  if (fault !== undefined) throw new Refusal(`${given}: ${fault}`);
}

/** Into a folder of its own first: what fails halfway leaves nothing. */
function write(dir: string, files: Readonly<Record<string, string>>): void {
  const made = mkdtempSync(join(dirname(dir), '.sluice-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(made, path)), { recursive: true });
      writeFileSync(join(made, path), text);
    }
    // Fails where something came there meanwhile.
    renameSync(made, dir);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw new Refusal(`${dir} was made by another program meanwhile: nothing is overwritten`);
    throw error;
  }
}
