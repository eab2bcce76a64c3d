/** The pages of `docs/how-to`: their code has the types that it needs, and runs. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openState } from '../../src/journal/open.ts';
import { desk, launcher } from '../kit/command.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const at = desk();
afterAll(() => at.remove());
const node = (...args: readonly string[]): string =>
  execFileSync(process.execPath, args, { cwd: at.dir, encoding: 'utf8' });

/** Writes the files of a page. */
function writeFiles(name: string): void {
  const page = readFileSync(join(root, 'docs', 'how-to', name), 'utf8');
  for (const [, file = '', text = ''] of page.matchAll(/^```ts file=(\S+)\n(.*?)^```$/gms))
    at.write(file, text.replace('klines.csv', join(root, 'backtests', 'data', 'XBTUSD-1m-2020-02_2020-04.csv.gz')));
}

beforeAll(() => {
  // As `npm install ../sluice` makes it.
  mkdirSync(join(at.dir, 'node_modules'));
  symlinkSync(root, join(at.dir, 'node_modules', 'sluice'));
  symlinkSync(join(root, 'node_modules', '@types'), join(at.dir, 'node_modules', '@types'));
  at.write('package.json', '{ "type": "module" }');
  at.write('tsconfig.json', JSON.stringify({ extends: join(root, 'tsconfig.json'), include: ['*.ts'] }));
});

test('backtest-from-code.md', () => {
  writeFiles('backtest-from-code.md');
  expect(node('--conditions=sluice-source', 'from-code.ts')).toMatch(
    /^\d+ fills, return -?0\.\d{3}, max drawdown 0\.\d{3}\n1\d{3} points, the last \d+\.\d\d\n$/,
  );
});

test('backtest-from-code.md, of several markets', () => {
  writeFiles('backtest-from-code.md');
  expect(node('--conditions=sluice-source', 'several.ts')).toBe('BUY BTCUSDT, SELL BTCUSDT\n');
});

test('test-a-strategy.md', () => {
  writeFiles('test-a-strategy.md');
  expect(node('--conditions=sluice-source', '--test-reporter=tap', 'above-average.test.ts')).toMatch(
    /^# pass 4\n# fail 0$/m,
  );
});

test('their code has the types that it needs', () => {
  expect(node(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', at.dir)).toBe('');
});

describe('journal-upkeep.md', () => {
  const page = readFileSync(join(root, 'docs', 'how-to', 'journal-upkeep.md'), 'utf8');
  const block = (opening: string): string => {
    const [, text = ''] = new RegExp(`^\`\`\`${opening}\\n(.*?)^\`\`\`$`, 'ms').exec(page) ?? [];
    expect(text, opening).not.toBe('');
    return text;
  };
  const shell = (command: string): string =>
    execFileSync('sh', ['-c', command], {
      cwd: at.dir,
      encoding: 'utf8',
      env: { PATH: `${at.dir}/bin:/usr/bin:/bin` },
    });

  test('the backup of each night is encrypted', () => {
    openState(join(at.dir, 'var', 'live'), { mode: 'live', account: 'spot', venue: 'test' }, []).lock.release();
    at.write('backup.env', block('sh file=backup.env'));
    // As cron reads it: without the times, and with % for \\%.
    const command = block('cron')
      .replace(/^(\S+ ){5}/, '')
      .replaceAll('\\%', '%');
    shell(command.replace('/srv/trading', at.dir).replace('npx sluice', `${process.execPath} ${launcher}`));
    const [folder = ''] = readdirSync(join(at.dir, 'backups'));
    expect(folder).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(readdirSync(join(at.dir, 'backups', folder)).toSorted()).toEqual(['backup.json', 'journal.db.encrypted']);
  });

  test('the first start of a restored journal under systemd is that of the unit, with the option', () => {
    for (const folder of ['bin', 'etc/systemd/system']) mkdirSync(join(at.dir, folder), { recursive: true });
    // As the start finds it: the file is there until then.
    at.write(
      'bin/systemctl',
      '#!/bin/sh\ntest "$1" != start || cat run/systemd/system/sluice.service.d/restored.conf\n',
      0o755,
    );
    const start = `ExecStart="/usr/bin/node" "/opt/sluice/bin/sluice.js" live --state "/var/lib/sluice/live"`;
    at.write('etc/systemd/system/sluice.service', `[Service]\nUser=sluice\n${start}\nExecReload=/bin/kill\n`);
    const command = block('sh systemd=restored').replaceAll('/run/', 'run/').replaceAll('/etc/', 'etc/');
    expect(shell(command)).toBe(`[Service]\nExecStart=\n${start} --accept-restored "disk failed"\n`);
    expect(existsSync(join(at.dir, 'run/systemd/system/sluice.service.d'))).toBe(false);
  });
});
