import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { faultsOf, faultsText } from './fault-file.ts';
import { openMarketFile, openScenarios } from './market-file.ts';
import { showReport } from './report.ts';

const dir = mkdtempSync(join(tmpdir(), 'sluice-simulator-files-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}

describe('a fault file', () => {
  test('is read with its defaults, and a name is a plan', () => {
    const path = file('fine.yaml', '- match: { method: POST }\n  do: { status: 504 }\n- at: {}\n  do: { ban: true }\n');
    expect(faultsOf(path)).toMatchObject([{ do: { status: 504, when: 'after' } }, { do: { ip: '127.0.0.1' } }]);
    expect(faultsOf('flaky-504').length).toBeGreaterThan(2);
    expect(faultsText('flaky-504', faultsOf('flaky-504'))).toMatch(
      /^faults in force: flaky-504 \(\d+ rules\): One create/,
    );
    expect(faultsText('./mine.yaml', faultsOf(path))).toBe('faults in force: ./mine.yaml (2 rules)');
  });

  test('that is a folder, or no whole YAML, is refused in one line', () => {
    expect(() => faultsOf(dir)).toThrow(`${dir} is a folder: give a file of rules in it, or the name of a plan`);
    const alias = file('alias.yaml', '- match: *post\n  do: { status: 504 }\n');
    expect(() => faultsOf(alias)).toThrow(/^.*alias\.yaml, line 1: \*post stands for what &post marks/);
  });

  test.for([
    ['an unknown key of a match', '- match:\n    methd: POST\n  do: { status: 504 }\n', 2, '"methd"'],
    ['an unknown key of an action', '- do:\n    status: 504\n    whenn: after\n', 3, '"whenn"'],
    ['an unknown key of a rule', '- do: { status: 504 }\n  mtach: {}\n', 2, '"mtach"'],
    ['an unknown action', '- do: { status: 504 }\n- do:\n    explode: 1\n', 3, 'must be one of hold, drop'],
    ['an unknown event', '- at: {}\n  do: { explode: 1 }\n', 2, 'must be one of outage, place'],
    [
      'a value that does not fit',
      '- match: {}\n  do:\n    status: teapot\n',
      3,
      'do.status: must be a number, not a string',
    ],
    [
      'a chance above 1',
      '- match: { probability: 2 }\n  do: { status: 504 }\n',
      1,
      'match.probability: must be at most 1',
    ],
    ['no rule', '# nothing yet\n', undefined, 'contains no rules: add some'],
    ['an empty list', '[]\n', undefined, 'contains no rules'],
    ['a socket fault on a request', '\n- do: { socket: skip }\n', 2, 'needs match.method: WS'],
    ['no list', 'match: {}\n', 1, 'must be a list of rules'],
    ['no YAML', '- do: { status: 504\n', 2, 'is not valid YAML'],
  ] as const)('%s is refused with file and line', ([, text, line, message]) => {
    const path = file('wrong.yaml', text);
    if (line !== undefined) expect(() => faultsOf(path)).toThrow(`${path}, line ${line}: `);
    expect(() => faultsOf(path)).toThrow(message);
  });

  test.for([
    [
      'a user',
      '- match: { user: "999" }\n  do: { status: 504 }\n',
      'match.user: this exchange has no user 999; there is 7',
    ],
    [
      'a path',
      '- match:\n    path: /nope\n  do: { status: 504 }\n',
      'line 2: match.path: this exchange has no path /nope',
    ],
    [
      'a path of another method',
      '- match: { method: GET, path: /sapi/v1/cancel }\n  do: { status: 504 }\n',
      'no path /sapi/v1/cancel',
    ],
    ['a beginning of no path', '- match: { path: /api/* }\n  do: { status: 504 }\n', 'no path /api/*'],
    [
      'the user of an event',
      '- at: {}\n  do: { place: { user: "999" } }\n',
      'do.place.user: this exchange has no user 999',
    ],
    [
      'a symbol',
      '- at: {}\n  do:\n    delist: NOPE\n',
      'line 3: do.delist: this exchange has no symbol NOPE; there is BTCUSDT',
    ],
  ] as const)('that names %s which this exchange does not have is refused', ([, text, message]) => {
    const path = file('vain.yaml', text);
    expect(() => faultsOf(path, { uids: ['7'], symbols: ['BTCUSDT'] })).toThrow(message);
    expect(faultsOf(path)).toHaveLength(1);
  });

  test('that names what there is may use any method, a beginning, a channel', () => {
    const paths = ['/sapi/v1/order', '/sapi/*', '*'].map(
      (one) => `- match: { path: "${one}" }\n  do: { status: 504 }\n`,
    );
    const rest =
      '- match: { method: WS, path: market_x, user: "7" }\n  do: { socket: skip }\n- at: {}\n  do: { delist: BTCUSDT }\n';
    expect(faultsOf(file('good.yaml', paths.join('') + rest), { uids: ['7'], symbols: ['BTCUSDT'] })).toHaveLength(5);
  });

  test('one that is not there is refused with the names of the plans', () => {
    expect(() => faultsOf('flaky')).toThrow(/^flaky is neither a fault file nor a plan.*; there are flaky-504,/);
  });
});

const empty = 'markets:\n  - { symbol: BTCUSDT, empty: true }\n';

describe('the markets', () => {
  test('of a file may come with users, fees, limits, assets and quirks, and otherwise say nothing of them', () => {
    expect(openMarketFile(file('plain.yaml', empty)).terms).toEqual({});
    const terms = {
      users: [
        {
          uid: '1',
          key: 'first',
          secret: 's',
          permissions: ['read', 'withdraw'],
          addresses: ['127.0.0.1'],
          balances: { USDT: '5' },
          margin: { USDT: '7' },
        },
        { uid: '2', key: 'second', secret: 's', balances: {}, keys: [{ key: 'third', secret: 's' }] },
      ],
      fees: { maker: '0', taker: '0.001' },
      limits: { ipWeightPerMinute: 100 },
      assets: { TUSDT: { asset: 'USDT', fee: '1', minWithdraw: '10', canDeposit: false } },
      quirks: { cancel: 'later', socketLevels: 40, acknowledge: true },
    };
    const lines = Object.entries(terms).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
    expect(openMarketFile(file('terms.yaml', `${empty}${lines.join('')}`)).terms).toEqual(terms);
  });

  test('of several scenarios stand side by side, the first one giving a symbol and the speed', () => {
    const { instruments, markets, speed } = openScenarios('tape-2024,synthetic');
    expect(instruments.map(({ symbol }) => symbol)).toEqual(['BTCUSDT', 'ETHUSDT', 'TRXUSDT']);
    expect(markets.map(({ kind }) => kind)).toEqual(['tape', 'synthetic', 'synthetic']);
    expect(speed).toBe(1);
    expect(() => openScenarios('tape-2025')).toThrow(/^unknown scenario tape-2025.*; there are crash-2020,/);
  });

  test('of a file are recorded, made up or empty, with paths from its folder', () => {
    file('k.csv', 'time_ms,open,high,low,close,volume\n1583971200000,1,2,1,2,3\n1583971260000,2,2,1,1,3\n');
    file('t.csv', 'time_ms,price,qty,side\n1583971200000,1.5,2,buy\n');
    const path = file(
      'markets.yaml',
      [
        'speed: 10',
        'markets:',
        '  - { symbol: BTCUSDT, klines: k.csv, from: "2020-03-12T00:01:00Z" }',
        '  - { symbol: ETHUSDT, trades: t.csv }',
        '  - { symbol: TRXUSDT, synthetic: { price: "0.1", volatility: 0.5 } }',
        '  - { symbol: XBTUSD, empty: true }',
      ].join('\n'),
    );
    expect(openMarketFile(path)).toMatchObject({
      speed: 10,
      markets: [
        { kind: 'klines', startIndex: 1 },
        { kind: 'tape', tape: { depth: [] } },
        { kind: 'synthetic', price: '0.1', volatility: 0.5 },
        { kind: 'empty' },
      ],
    });
  });

  test.for([
    ['an unknown key', 'markets:\n  - symbol: BTCUSDT\n    klins: a\n', 'line 3'],
    ['no market', 'markets: []\n', 'line 1: markets: must not be empty'],
    ['a speed above all', `speed: 1e9\n${empty}`, 'line 1: speed: must be at most 1000'],
    [
      'a recording that is not there',
      'markets:\n  - symbol: BTCUSDT\n    klines: no.csv\n',
      'line 3: markets.0.klines: ',
    ],
    ['instruments that are not there', `${empty}instruments: no.yaml\n`, 'line 3: instruments: '],
    ['no kind', 'markets:\n  - symbol: BTCUSDT\n', 'line 2'],
    ['two kinds', 'markets:\n  - { symbol: BTCUSDT, empty: true, synthetic: {} }\n', 'line 2'],
    [
      'an unknown symbol',
      'markets:\n  - symbol: BTCUSDT\n    empty: true\n  - symbol: NONE\n    empty: true\n',
      'line 4',
    ],
    [
      'a symbol twice',
      'markets:\n  - { symbol: BTCUSDT, empty: true }\n  - { symbol: BTCUSDT, empty: true }\n',
      'line 3',
    ],
    ['a uid that is none', `${empty}users:\n  - { uid: x, key: k, secret: s }\n`, 'line 4'],
    [
      'a user twice',
      `${empty}users:\n  - { uid: "1", key: a, secret: s }\n  - { uid: "1", key: b, secret: s }\n`,
      'line 5',
    ],
    ['a key twice', `${empty}users:\n  - { uid: "1", key: a, secret: s, keys: [{ key: a, secret: s }] }\n`, 'line 4'],
    [
      'a permission that there is not',
      `${empty}users:\n  - { uid: "1", key: a, secret: s, permissions: [all] }\n`,
      'line 4',
    ],
    [
      'money that is too fine',
      `${empty}users:\n  - { uid: "1", key: a, secret: s, balances: { USDT: "0.${'0'.repeat(18)}1" } }\n`,
      'line 4',
    ],
    [
      'a day that the calendar has not',
      'markets:\n  - symbol: BTCUSDT\n    klines: k.csv\n    from: "0020-02-28"\n',
      'line 4: markets.0.from: must be a date such as 2020-03-12',
    ],
    ['a fee above all', `${empty}fees: { maker: "1.5", taker: "0" }\n`, 'line 3'],
    ['an unknown quirk', `${empty}quirks:\n  color: red\n`, 'line 4'],
    ['a position that a quirk does not have', `${empty}quirks:\n  ping: often\n`, 'line 4'],
    ['a broken recording', 'markets:\n  - { symbol: BTCUSDT, trades: broken.csv }\n', 'broken.csv, line 2'],
  ] as const)('%s is refused with file and line', ([, text, place]) => {
    file('broken.csv', 'time_ms,price,qty,side\n1,2,3,up\n');
    const path = file('wrong-markets.yaml', text);
    expect(() => openMarketFile(path)).toThrow(place);
    expect(() => openMarketFile(path)).toThrow(dir);
  });
});

test('a file of markets that is not there is refused by the option that names it', () => {
  expect(() => openMarketFile(join(dir, 'no.yaml'))).toThrow(
    /^file of markets .*no.yaml does not exist: check --markets FILE/,
  );
});

describe('a report', () => {
  const shown = async (text: string, json = false): Promise<string> => {
    const lines: string[] = [];
    await showReport(file('log.jsonl', text), { json, out: (line) => lines.push(line) });
    return lines.join('\n');
  };
  const request = {
    at: 0,
    kind: 'request',
    ip: '127.0.0.1',
    method: 'GET',
    target: '/nothing',
    body: '',
    status: 404,
    weight: 0,
  };

  test('is a table, or JSON', async () => {
    expect(await shown(`${JSON.stringify(request)}\n`)).toMatch(
      /1 request, .*\n(.|\n)*unknownOperation(.|\n)*GET \/nothing/,
    );
    expect(JSON.parse(await shown(`${JSON.stringify(request)}\n`, true))).toMatchObject({
      requests: 1,
      findings: [{ count: 1 }],
    });
    expect(await shown('')).toContain('no mistakes found');
  });

  test('of a file that is none is refused with its line', async () => {
    await expect(shown(`${JSON.stringify(request)}\n{"at":`)).rejects.toThrow('log.jsonl, line 2: is not JSON');
    await expect(shown('7\n')).rejects.toThrow('log.jsonl, line 1: is not an entry');
  });
});
