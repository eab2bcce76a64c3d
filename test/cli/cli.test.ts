/** What a user gets for a command or a configuration that cannot be: one message, the right exit code, nothing written. */
import { existsSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openState } from '../../src/journal/open.ts';
import { type Answer, backtestHere, backtestYaml, desk, klineLines } from '../kit/command.ts';

const at = desk();
beforeAll(() => {
  at.write('klines.csv', `${klineLines(120).join('\n')}\n`);
});
afterAll(() => at.remove());

/** The message of a command that is refused: no output, no stack, no file left behind. */
async function refused(code: number, ...args: readonly string[]): Promise<string> {
  const before = at.files();
  const answer = await at.sluice(args);
  expect(answer, answer.err).toMatchObject({ code, out: '' });
  expect(answer.err).not.toMatch(/\n {4}at |this is a bug/);
  expect(at.files()).toEqual(before);
  return answer.err;
}

/** A right configuration, broken in one place. */
function broken(from: string | RegExp, to: string): string {
  expect(backtestYaml).toMatch(from);
  return at.write('b.yaml', backtestYaml.replace(from, to));
}

/** The message for a configuration that is refused, asked within this process: dozens of cases are quick that way. */
async function refusedConfig(config: string, ...set: readonly string[]): Promise<string> {
  const { out, refusal } = await backtestHere(config, { set });
  expect(out).toBe('');
  expect(refusal?.exitCode).toBe(2);
  return refusal?.message.replaceAll(at.dir, '.') ?? '';
}

const refusedStrategy = (code: number, text: string, ...args: readonly string[]): Promise<string> => {
  at.write('mine.ts', text);
  broken(/use: sma-cross(.*)params: [^\n]*/s, 'use: ./mine.ts$1params: {}');
  return refused(code, 'backtest', '--config', 'b.yaml', ...args);
};

test('the configuration that these tests break is right', async () => {
  at.write('b.yaml', backtestYaml);
  const answer: Answer = await at.sluice(['backtest', '--config', 'b.yaml']);
  expect(answer).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^saved as (\S+): sluice report \1 -o report\.html\n$/),
  });
  expect(answer.out).toMatch(/^Final equity +100,000 USD/m);
});

describe('results that cannot be written are refused before the run', () => {
  const told = async (...options: readonly string[]): Promise<string> => {
    at.write('b.yaml', backtestYaml);
    return (await refused(2, 'backtest', '--config', 'b.yaml', ...options)).replaceAll(realpathSync(at.dir), '.');
  };

  test('a report into a folder that is not there, or over one that is', async () => {
    expect(await told('--no-save', '--report', 'gone/x.html')).toBe(
      'sluice: --report gone/x.html: folder ./gone does not exist: create it first, or name another folder\n',
    );
    expect(await told('--no-save', '--report', '.')).toContain('is a folder: name a file in it, such as report.html');
  });

  test('a report in the place of a file that is none; one of ours gives way', async () => {
    at.write('own.ts', 'export default {};');
    at.write('empty.html', '');
    const why = 'exists and is not a Sluice report: name another file, or remove it first';
    for (const file of ['own.ts', 'b.yaml', 'klines.csv'])
      expect(await told('--no-save', '--report', file)).toBe(`sluice: --report ${file}: ${why}\n`);
    for (const _ of ['empty', 'ours']) {
      const { code, err } = await at.sluice(['backtest', '--config', 'b.yaml', '--no-save', '--report', 'empty.html']);
      expect([code, err]).toEqual([0, expect.stringContaining('report: ')]);
    }
  });

  test.for([[], ['--grid', 'fast=2..3']])('CSV and kept runs, both at once %j', async (grid) => {
    expect(await told('--csv', 'klines.csv/x', '--runs', 'b.yaml', ...grid)).toBe(
      'sluice: --csv klines.csv/x: ./klines.csv is a file, not a folder: name another folder\n' +
        '--runs b.yaml: ./b.yaml is a file, not a folder: name another folder, or use --no-save\n',
    );
  });

  test.skipIf(!existsSync('/proc/self'))('what looks like a folder and takes no files', async () => {
    expect(await told('--runs', '/proc/x')).toMatch(/^sluice: --runs \/proc\/x: nothing can be written into \/proc \(/);
  });
});

describe('a command', () => {
  test.for([
    [['backtset'], "unknown command 'backtset'", 'Did you mean backtest?'],
    [['backtest', '--cofig', 'b.yaml'], "unknown option '--cofig'", 'Did you mean --config?'],
    [
      ['market', 'klines', 'XBTUSD'],
      "missing required argument 'INTERVAL'",
      'usage: sluice market klines [options] <SYMBOL> <INTERVAL>',
    ],
    [['backtest'], 'sluice: backtest needs a configuration: --config FILE, such as --config config/backtest.yaml'],
    [['live'], 'sluice: live needs a configuration: --config FILE'],
    [['backtest', '--config', '.'], 'sluice: configuration . is a folder: give a file in it with --config FILE'],
    [['backtest', '--config', 'gone.yaml'], 'sluice: configuration gone.yaml does not exist'],
    [
      ['simulator', '--scenario', 'tape-2023'],
      'sluice: unknown scenario tape-2023 (did you mean "tape-2024"?); there are crash-2020, tape-2024, synthetic, empty',
    ],
    [
      ['simulator', '--faults', 'flaky-503'],
      'sluice: flaky-503 is neither a fault file nor a plan (did you mean "flaky-504"?)',
    ],
    [['simulator', 'report', 'gone.jsonl'], 'sluice: gone.jsonl does not exist'],
    [
      ['simulator', '--state', 'a', '--persist', 'b'],
      "option '--state <DIR>' cannot be used with option '--persist <PATH>'",
    ],
    [['simulator', '--port', '70000'], 'must be a whole number from 0 to 65535'],
    [['fills', '--state', '.'], 'sluice: . is not a state directory: there is no journal.db in it'],
    [['fills'], 'sluice: no state directory in var/: start one first (sluice demo), or give it with --state DIR'],
    [
      ['demo', '--state', 'x', '--faults', 'worst-dy'],
      'worst-dy is neither a fault file nor a plan (did you mean "worst-day"?)',
    ],
    [['report', 'last', '-o', 'gone/x.html'], 'sluice: -o gone/x.html: folder '],
    [['report', 'last', '--csv', 'klines.csv'], 'is a file, not a folder: name another folder'],
    [['compare', 'a', 'b', '-o', '.'], 'sluice: -o .: is a folder: name a file in it, such as report.html'],
    [['runs', '--runs', 'klines.csv'], 'sluice: klines.csv is a file: name the folder of runs with --runs DIR'],
    [['simulator', '--markets', '.'], 'sluice: --markets .: is not a file: give a file of markets'],
    [['simulator', 'report', '.'], 'sluice: . is a folder: give the file that sluice simulator --log FILE wrote'],
    [['cancel'], 'sluice: choose the orders: sluice cancel ORDER, sluice cancel --strategy ID, or sluice cancel --all'],
  ] as const)('that is wrong says so: %j', async ([args, ...parts]) => {
    const message = await refused(2, ...args);
    for (const part of parts) expect(message).toContain(part);
  });
});

test('a demo takes no directory of another mode, and --fresh takes none away that is no demo’s', async () => {
  const { lock } = openState(join(at.dir, 'var', 'live'), { mode: 'live', account: 'spot', venue: 'v' }, []);
  lock.release();
  try {
    // Whoever reads a journal leaves files of SQLite beside it.
    expect(await at.sluice(['demo', '--state', 'var/live', '--fresh'])).toEqual({
      code: 3,
      out: '',
      err: 'sluice: state directory var/live belongs to mode "live", not "demo": give another with --state DIR; nothing was changed\n',
    });
    expect(at.files()).toContain(join('var', 'live', 'journal.db'));
    expect(at.files()).not.toContain(join('var', 'live', 'demo-faults.yaml'));
    at.write('faults.yaml', '- match: { method: POST }\n  do: { status: 504 }\n');
    const foreign = '. holds files and is not a state directory of a demo, which --fresh deletes';
    for (const more of [[], ['--fresh']]) expect(await refused(3, 'demo', '--state', '.', ...more)).toContain(foreign);
  } finally {
    rmSync(join(at.dir, 'var'), { recursive: true });
  }
});

describe('a configuration', () => {
  test('names every misspelt and missing key with its line and what was probably meant', async () => {
    broken(/cash:(.*)symbol:(.*)maxPosition:/s, 'csh:$1simbol:$2maxPositon:');
    const message = await refused(2, 'backtest', '--config', 'b.yaml');
    expect(message.split('\n')).toEqual(
      expect.arrayContaining([
        'sluice: b.yaml has 6 problems:',
        '  line 3: csh: is not a known key (did you mean "cash"?)',
        '  line 8: strategies.0.simbol: is not a known key (did you mean "symbol"?)',
        '  line 13: risk.maxPositon: is not a known key (did you mean "maxPosition"?)',
        '  cash: is missing',
      ]),
    );
  });

  test('for one command that is given to another is told so by its keys', async () => {
    const backtests = await refused(2, 'doctor', '--config', at.write('b.yaml', backtestYaml));
    expect(backtests).toContain(
      '  line 1: data: is not a known key here: it belongs into the configuration of a backtest\n',
    );
    const trading = `${backtestYaml}execution: { pollMs: 500 }\n`;
    expect(await refused(2, 'backtest', '--config', at.write('b.yaml', trading))).toContain(
      ': execution: is not a known key here: it belongs into the configuration of live or paper\n',
    );
  });

  test.for([
    ['cash: "100000"', 'cash: 100000.10', '  line 3: cash: must be in quotes: "100000.10"'],
    [
      'interval: 1min',
      'interval: 1mn',
      'line 9: strategies.0.interval: unknown interval 1mn (did you mean "1min"?); use 1min, 5min,',
    ],
    [
      'strategies:',
      'strategies: [',
      'b.yaml, line 6: is not valid YAML: a second colon, an indented line below a value, or a bracket that is not closed',
    ],
    ['  - id:', '\t- id:', 'is not valid YAML: a tab indents this line: use spaces'],
    [
      'cash: "100000"',
      'cash: "100000"\ncash: "1"',
      'b.yaml, line 4: is not valid YAML: cash appears twice: keep one of them',
    ],
    ['cash: "100000"', 'from: 1704067200000\ncash: "100000"', 'line 3: from: must be a date such as 2020-03-12'],
    [
      'maxOrderValue: "',
      'maxOrderValue: "0" # "',
      'risk.maxOrderValue: must be above "0": with it every order would be refused',
    ],
    [
      'cash: "100000"',
      'cash: *much',
      'b.yaml, line 3: *much stands for what &much marks, and nothing above is marked so: write the value out',
    ],
    [
      'cash: "100000"',
      `x: [&a [1,1,1,1,1,1,1,1,1,1], &b [${'*a,'.repeat(10)}], [${'*b,'.repeat(10)}]]`,
      'b.yaml, line 3: too many aliases (*) of aliases: write the values out',
    ],
    [
      'fees:',
      '---\nfees:',
      'b.yaml, line 14: another document begins here (---): keep each configuration in a file of',
    ],
    ['maker: "0.001"', 'maker: "0.1 %"', 'fees.maker: must be a decimal number without sign or exponent'],
    [
      'sma-cross',
      'sma-corss',
      'b.yaml has a problem:\n  line 7: strategies.0.use: unknown strategy "sma-corss" (did you mean "sma-cross"?)',
    ],
    ['slow: 5', 'slow: 500000', '  line 10: strategies.0.params.slow: must lie between 2 and 20000, not 500000'],
    ['slow: 5', 'slow: 2', '  line 10: strategies.0.params: fast (2) must be below slow (2)'],
    [
      'slow: 5',
      'slwo: 5',
      'strategies.0.params.slwo: is not a parameter (there are: fast, slow, quantity, share, stop)',
    ],
    [
      'slow: 5',
      'slow: 500',
      'XBTUSD: 120 klines are too few: the strategy needs 500 of 1min before its first decision and one after it, but ./klines.csv has 120 up to the end',
    ],
    [
      /XBTUSD/g,
      'XBTUSDT',
      'instruments.yaml has no symbol XBTUSDT (did you mean "XBTUSD"?); there are XBTUSD, BTCUSDT',
    ],
    ['cash:', 'instruments: gone.yaml\ncash:', 'b.yaml: instruments: file '],
    ['cash:', 'trades: { X: gone.csv }\ncash:', 'trades.X: must be a symbol: 2 to 30 upper case letters and digits'],
    ['cash:', 'account: margin\ncash:', 'b.yaml: account: margin cannot be simulated'],
    ['symbol: XBTUSD', 'symbols: [XBTUSD, XBTUSD]', 'strategies.0.symbols: names XBTUSD twice'],
    ['symbol: XBTUSD', 'symbol: BTCUSD', 'data.XBTUSD: XBTUSD is not traded by any strategy (did you mean "BTCUSD"?)'],
    [
      './klines.csv',
      './gone.csv',
      'gone.csv does not exist: check the path (in a configuration `data`, `trades` or `depth`)',
    ],
  ] as const)('with %s as %s is refused', async ([from, to, part]) => {
    expect(await refusedConfig(broken(from, to))).toContain(part);
  });

  test('names everything that is wrong with its strategies, each with its line', async () => {
    const second = 'strategies:\n  - { id: other, use: ./gone.ts, symbol: BTCUSDD, interval: 1min }\n';
    broken(/strategies:\n/, second);
    const message = await refused(2, 'backtest', '--config', 'b.yaml', '--set', 'strategies.1.params.fast=0');
    expect(message.split('\n')).toEqual([
      'sluice: b.yaml has 3 problems:',
      expect.stringMatching(/^ {2}line 6: strategies\.0\.use: strategy file \S+gone\.ts does not exist$/),
      expect.stringMatching(
        /^ {2}line 6: strategies\.0\.symbol: \S+ has no symbol BTCUSDD \(did you mean "BTCUSDT"\?\)/,
      ),
      '  --set strategies.1.params.fast: must lie between 1 and 5000, not 0',
      '',
    ]);
  });

  test.for([
    ['foo', 'must look like strategies.0.params.fast=12'],
    ['cash.x=1', 'there is no such place in the configuration: cash is a single value'],
    ['strategies.1.id=b', 'there is no such place in the configuration: strategies has 1, counted from 0'],
    ['strategies.0.parms.fast=3', '--set strategies.0.parms: is not a known key (did you mean "params"?)'],
    ['fees.taker=7', '--set fees.taker: must be a fraction from "0" to "1"'],
    ['cash=-5', '--set cash: must be a decimal number without sign or exponent, such as "0.10", not "-5"'],
    ['cash=0', '--set cash: must be above "0"'],
    ['strategies.0.allocation=1e3', '--set strategies.0.allocation: must be a decimal number without sign'],
    ['from=yesterday', '--set from: must be a date such as 2020-03-12'],
    ['from=2021-01-01', 'no klines between from and to'],
  ] as const)('changed by --set %s is refused', async ([setting, part]) => {
    expect(await refusedConfig(at.write('b.yaml', backtestYaml), setting)).toContain(part);
  });
});

test('a setting that the file does not have needs no quotes of its own', async () => {
  const { refusal } = await backtestHere(at.write('b.yaml', backtestYaml), { set: ['strategies.0.allocation=50000'] });
  expect(refusal).toBeUndefined();
});

test.for([
  ['', /^\S+b\.yaml is empty; .*:\n {2}strategies: is missing\n {2}risk: is missing\n {2}cash: is missing$/],
  ['# nothing yet\n', /b\.yaml is empty; /],
  ['{}\n', /b\.yaml has 3 problems:/],
  ['- data\n', /b\.yaml: must hold keys with their values .*, not a list$/],
  ['data\n', /b\.yaml: must hold keys with their values .*, not a single value$/],
] as const)('a configuration that holds %j says so', async ([text, pattern]) => {
  expect(await refusedConfig(at.write('b.yaml', text))).toMatch(pattern);
});

describe('a strategy file', () => {
  const contract = "import { defineStrategy, hold, sma } from 'sluice';\n";
  const deciding = (body: string): string =>
    `${contract}export default defineStrategy({ name: 'mine', about: '', params: {}, indicators: () => ({}),\n  decide() { ${body} } });\n`;

  test.for([
    ['that does not parse', 'export default {', /mine\.ts cannot be loaded: SyntaxError: .* \(mine\.ts, line 1\)/],
    [
      'that throws while loading',
      "\nthrow new Error('no luck');",
      /cannot be loaded: Error: no luck \(mine\.ts, line 2\)/,
    ],
    ['that exports nothing', 'const a = 1;', /mine\.ts has no strategy: it must end in `export default defineStrategy/],
    ['that imports what is not there', "import 'nothere';", /cannot be loaded: Error: Cannot find package 'nothere'/],
    [
      'that imports what sluice does not have',
      "import { superduper } from 'sluice';",
      /an export named 'superduper' \(mine\.ts, line 1\): docs\/reference\/strategies\.md and the pages that it names list the exports$/m,
    ],
    ['with an enum', 'enum A { B }', /cannot be loaded: SyntaxError: TypeScript enum is not supported/],
    [
      'whose indicators throw',
      `${contract}export default defineStrategy({ name: 'mine', about: '', params: {},\n  indicators() { throw new Error('dry'); }, decide() {} });`,
      /strategy mine: check\(\), warmup\(\) or indicators\(\) threw with these parameters: Error: dry \(mine\.ts, line 3\)/,
    ],
    [
      'of whose indicators one is none',
      `${contract}export default defineStrategy({ name: 'mine', about: '', params: {},\n  indicators: () => ({ average: sma('close', 5).foo }), decide() {} });`,
      /^sluice: .*b\.yaml has a problem:\n {2}line \d+: strategies\.0\.use: strategy mine \(\.\/mine\.ts\): indicators\(\) gives undefined as average: .* such as sma\('close', 20\)[^\n]*\n$/,
    ],
    [
      'whose indicators are a number',
      `${contract}export default defineStrategy({ name: 'mine', about: '', params: {}, indicators: () => 5, decide() {} });`,
      /strategy mine \(\.\/mine\.ts\): indicators\(\) gives 5: it must give an object/,
    ],
    [
      'with a parameter of its own making',
      `${contract}export default defineStrategy({ name: 'mine', about: '', params: { a: 3 }, indicators: () => ({}), decide() {} });`,
      /params\.a must be made by integer\(\), decimal\(\), choice\(\) or flag\(\)/,
    ],
  ] as const)('%s is refused', async ([, text, pattern]) => {
    expect(await refusedStrategy(2, text)).toMatch(pattern);
  });

  test('that throws while it decides ends a backtest', async () => {
    const message = await refusedStrategy(1, deciding("throw new Error('oops');"));
    expect(message).toContain(
      'sluice: a strategy threw: Error: oops (mine.ts, line 3); strategy trend (./mine.ts), at the kline of 2020-02-01T00:00Z',
    );
  });

  test('that says what is no signal is named with the place', async () => {
    const message = await refusedStrategy(1, deciding('return true;'));
    expect(message).toContain('use hold(), flat() or quotes(); strategy trend, at the kline of 2020-02-01T00:00Z\n');
  });

  test.for([
    ["'text'", "'text'"],
    ['undefined', 'undefined'],
  ] as const)('that throws %s, which is no error, is named all the same', async ([thrown, shown]) => {
    const line = `${shown}, which is not an Error: throw new Error('…') to see the line; strategy`;
    const text = deciding(`throw ${thrown};`);
    expect(await refusedStrategy(1, text)).toBe(
      `sluice: a strategy threw: ${line} trend (./mine.ts), at the kline of 2020-02-01T00:00Z\n`,
    );
    const { code, err } = await at.sluice(['check', './mine.ts']);
    expect(code).toBe(1);
    expect(err).toContain(`sluice: a strategy threw: ${line} mine (`);
    const streams = `${contract}export default defineStrategy({ name: 'mine', about: '', params: {}, signals() { throw ${thrown}; } });`;
    expect(await refusedStrategy(1, streams)).toBe(`sluice: a strategy threw: ${line} trend (./mine.ts)\n`);
  });

  test('that signals what cannot be ends a backtest', async () => {
    const message = await refusedStrategy(1, deciding("return hold({ quantity: 0 / 0 }, '');"));
    expect(message).toMatch(/a target without a finite size: .*"NaN"/);
  });

  test('that is not there is refused', async () => {
    expect(await refusedConfig(broken('sma-cross', './gone.ts'))).toContain('strategy file ./gone.ts does not exist');
  });
});
