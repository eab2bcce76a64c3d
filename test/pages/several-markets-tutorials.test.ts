/** The tutorials of a pair and of a rotation, and the rotation over one's own data: their files, commands and output are taken from the pages. */
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { type Desk, desk } from '../kit/command.ts';
import { startProgram } from '../kit/program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pageOf = (path: string): string => readFileSync(join(root, 'docs', path), 'utf8');
/** The lines `npx sluice …` of a page without their comments, as arguments. */
const commandsIn = (page: string): readonly (readonly string[])[] =>
  [...page.matchAll(/^npx sluice ([^#\n]*)/gm)].map(([, line = '']) => line.trim().split(/\s+/));

let at: Desk;
afterEach(() => at.remove());

function writeFiles(page: string): void {
  for (const [, file = '', text = ''] of page.matchAll(/^```\w+ file=(\S+)\n(.*?)^```$/gms)) at.write(file, text);
}

/** Runs commands one after another: each succeeds, and the first backtest prints what the page shows. */
async function run(page: string, commands: readonly (readonly string[])[]): Promise<void> {
  const shown = /^```text output=backtest\n(.*?)^```$/ms.exec(page)?.[1];
  const printed: string[] = [];
  for (const args of commands) {
    const { code, out, err } = await at.sluice(args);
    expect(code, `${args.join(' ')}: ${err}${out}`).toBe(0);
    if (args[0] === 'backtest') printed.push(out);
  }
  expect(printed[0]).toBe(shown);
}

/** The folder that `init` and `npm install` make, with the files of the page. */
function folderOf(name: string, page: string): void {
  at = desk(`my-${name}`);
  symlinkSync(root, join(at.dir, '..', 'sluice'));
  for (const folder of ['node_modules', 'strategies']) mkdirSync(join(at.dir, folder));
  symlinkSync(root, join(at.dir, 'node_modules', 'sluice'));
  at.write('package.json', '{ "type": "module" }');
  writeFiles(page);
}

test.for(['pair', 'rotation'])('a %s trades on paper as its tutorial says', async (name) => {
  const page = pageOf(`tutorial/${name}.md`);
  folderOf(name, page);
  const given = commandsIn(page);
  const commandOf = (program: string): readonly string[] => given.find(([command]) => command === program) ?? [];
  const place = { cwd: at.dir, env: { PATH: process.env['PATH'] ?? '', HOME: join(at.dir, 'home') } };
  const exchange = startProgram([...commandOf('simulator'), '--port', '0', '--json'], place);
  const { restUrl, wsUrl } = JSON.parse(await exchange.line(/restUrl/)) as { restUrl: string; wsUrl: string };
  const here = [`exchange.restUrl=${restUrl}`, `exchange.wsUrl=${wsUrl}`].flatMap((one) => ['--set', one]);
  const paper = startProgram([...commandOf('paper'), ...here], place);
  await paper.line(/Z fill +(pair|rotation) BUY /);
  expect(await paper.end('SIGINT')).toMatchObject({ code: 130 });
  const fills = given.find(([command]) => command === 'fills') ?? ['fills', '--state', `var/paper-${name}`];
  expect((await at.sluice(fills)).out).toContain('BUY');
  await exchange.end('SIGINT');
});

test.for(['pair', 'rotation'])('the tutorial of a %s works as it says, from the folder on', async (name) => {
  const page = pageOf(`tutorial/${name}.md`);
  const [init = [], ...others] = commandsIn(page).filter(([command]) => command !== 'simulator' && command !== 'paper');
  expect(others.map(([command]) => command)).toEqual(['test', 'backtest', 'backtest']);
  at = desk(`my-${name}`);
  symlinkSync(root, join(at.dir, '..', 'sluice'));
  expect(init).toEqual(['init', `../my-${name}`]);
  expect(await at.sluice(init)).toMatchObject({ code: 0 });
  // As npm install makes it.
  mkdirSync(join(at.dir, 'node_modules'));
  symlinkSync(root, join(at.dir, 'node_modules', 'sluice'));
  writeFiles(page);
  await run(page, others);
});

test('a rotation over data of one’s own works as the page says', async () => {
  const page = pageOf('how-to/own-data-rotation.md');
  at = desk();
  symlinkSync(join(root, 'backtests'), join(at.dir, 'backtests'));
  writeFiles(page);
  const commands = commandsIn(page);
  expect(commands.map(([command]) => command)).toEqual(['data', 'data', 'backtest']);
  await run(page, commands);
});
