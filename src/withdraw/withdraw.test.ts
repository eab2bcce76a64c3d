import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SeenRequest, type StubServer, stubServer } from '../../test/kit/exchange-stub.ts';
import { refusalLater } from '../../test/kit/refusal.ts';
import { units } from '../domain/money.ts';
import { journalDir, openJournal } from './journal.ts';
import { absentAfterMs } from './resolve.ts';
import { type ApplyCommand, apply, list } from './withdraw.ts';

const dayMs = 24 * 3_600_000;
const address = 'TXyzabcdefghijk12345';
let dir = '';
let stub: StubServer;
let now = Date.UTC(2026, 0, 1);
/** What the exchange lists, and how it answers an application. */
let listed: object[] = [];
let answerQuery: (question: Question) => object = () => ({ withdrawList: listed, count: listed.length });
interface Question {
  readonly symbol?: string;
  readonly startTime?: string;
}
let answerApply: (body: Readonly<Record<string, string>>) => unknown = () => undefined;
const said: string[] = [];
const printed: string[] = [];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-withdraw-'));
  listed = [];
  answerQuery = () => ({ withdrawList: listed, count: listed.length });
  now = Date.UTC(2026, 0, 1);
  said.length = 0;
  printed.length = 0;
  answerApply = () => ({ code: '0', msg: 'suc', data: { id: 183_745 } });
  stub = await stubServer(({ target, body }, response) => {
    if (target === '/sapi/v1/time') return { timezone: 'UTC', serverTime: now };
    if (target === '/sapi/v1/withdraw/query')
      return { code: '0', msg: 'suc', data: answerQuery(JSON.parse(body) as Question) };
    const answer = answerApply(JSON.parse(body) as Record<string, string>);
    if (answer === undefined) response.writeHead(504);
    return answer ?? 'gateway';
  });
  writeFileSync(join(dir, 'allowed.txt'), `# mine\nTUSDT ${address}\nXRP rAddress1234 77 # with a tag\n`, {
    mode: 0o600,
  });
});
afterEach(async () => {
  await stub.close();
  rmSync(dir, { recursive: true, force: true });
});

const command = (given: Partial<ApplyCommand> = {}, typed: readonly string[] = ['25.5', address]): ApplyCommand => ({
  asset: 'tusdt',
  amount: '25.50',
  address,
  allowList: join(dir, 'allowed.txt'),
  state: join(dir, 'state'),
  url: stub.url,
  json: false,
  out: (line) => void printed.push(line),
  say: (line) => void said.push(line),
  signal: new AbortController().signal,
  environment: {
    SLUICE_WITHDRAW_API_KEY: 'w-key',
    SLUICE_WITHDRAW_API_SECRET: 'w-secret',
    XDG_STATE_HOME: dir,
  },
  input: Readable.from(typed.map((line) => `${line}\n`)),
  ...given,
});
const applications = (): SeenRequest[] => stub.requests.filter(({ target }) => target.endsWith('/withdraw/apply'));
const row = (withdrawOrderId: string, more = {}) => ({
  id: 7,
  withdrawOrderId,
  symbol: 'TUSDT',
  amount: '25.5',
  address,
  fee: '1',
  ctime: now,
  status: 0,
  ...more,
});

describe('a withdrawal', () => {
  it('is journalled before it is sent, signed with a key of its own, sent once, and told', async () => {
    let before = '';
    answerApply = ({ withdrawOrderId }) => {
      before = readFileSync(join(dir, 'state', 'withdrawals.db-wal')).includes(String(withdrawOrderId))
        ? 'there'
        : 'missing';
      return { code: '0', data: { id: 183_745 } };
    };
    await apply(command());
    expect(before).toBe('there');
    expect(applications()).toHaveLength(1);
    const [{ headers, body, target } = { headers: {} as SeenRequest['headers'], body: '', target: '' }] =
      applications();
    const { withdrawOrderId } = JSON.parse(body) as { withdrawOrderId: string };
    expect(withdrawOrderId).toMatch(/^w[a-z2-7]{24}$/);
    expect(JSON.parse(body)).toEqual({ withdrawOrderId, amount: '25.5', address, symbol: 'TUSDT' });
    const payload = `${String(headers['x-ch-ts'])}POST${target}${body}`;
    expect(headers).toMatchObject({
      'x-ch-apikey': 'w-key',
      'x-ch-sign': createHmac('sha256', 'w-secret').update(payload).digest('hex'),
    });
    expect(printed).toEqual([
      `${withdrawOrderId} 25.5 TUSDT to ${address}: accepted (unapproved), 183745 at the exchange`,
    ]);
  });

  it.each([
    ['another amount', ['25.51', address], 'the amount differs'],
    ['another address', ['25.5', address.toLowerCase()], 'the address differs'],
    ['yes', ['yes', 'yes'], 'the amount differs'],
    ['nothing', [], 'the amount differs'],
  ])('is not sent after %s was typed', async (_, typed, why) => {
    expect((await refusalLater(() => apply(command({}, typed)))).message).toContain(why);
    expect(applications()).toHaveLength(0);
  });

  it.each<[string, Partial<ApplyCommand>]>([
    ['an address that is not listed', { address: `${address}6` }],
    ['letters of another case', { address: address.toLowerCase() }],
    ['another currency', { asset: 'USDT' }],
    ['a label that is not listed', { label: '7' }],
    ['a label left out', { asset: 'XRP', address: 'rAddress1234' }],
  ])('is refused for %s, before anything is asked or sent', async (_, given) => {
    const { message, exitCode } = await refusalLater(() => apply(command(given)));
    expect(message).toContain('does not allow');
    expect(exitCode).toBe(3);
    expect(stub.requests).toHaveLength(0);
    expect(said).toEqual([]);
  });

  it.each<[string, Partial<ApplyCommand>]>([
    ['the trading key alone', { environment: { SLUICE_API_KEY: 'k', SLUICE_API_SECRET: 's' } }],
    ['an amount of nothing', { amount: '0.0' }],
    ['an amount with an exponent', { amount: '1e3' }],
    ['an id that cannot be one', { id: 'a b' }],
    ['no allow-list', { allowList: 'nowhere.txt' }],
  ])('is refused for %s', async (_, given) => {
    expect((await refusalLater(() => apply(command(given)))).message).toMatch(/.{20}/);
    expect(applications()).toHaveLength(0);
  });

  it('is refused where others may write the allow-list, or a line of it makes no sense', async () => {
    writeFileSync(join(dir, 'odd.txt'), `TUSDT ${address} 1 2\n`, { mode: 0o600 });
    expect((await refusalLater(() => apply(command({ allowList: join(dir, 'odd.txt') })))).message).toContain('line 1');
  });
});

describe('an outcome that is not known', () => {
  it('is cleared up by asking, and never by sending again', async () => {
    answerApply = ({ withdrawOrderId }) => {
      listed.push(row(String(withdrawOrderId), { status: 1 }));
      return undefined;
    };
    await apply(command());
    expect(applications()).toHaveLength(1);
    expect(printed[0]).toMatch(/: accepted \(approved\), 7 at the exchange$/);
  });

  it('-2018, that the id exists already, is such a one', async () => {
    answerApply = ({ withdrawOrderId }) => {
      listed.push(row(String(withdrawOrderId)));
      return { code: '-2018', msg: 'duplicate' };
    };
    await apply(command());
    expect(printed[0]).toContain('accepted');
  });

  it('blocks every other one until it is cleared up or cannot have arrived any more', async () => {
    const desk = openJournal(join(dir, 'state'));
    const lost = { withdrawOrderId: 'wlost', asset: 'TUSDT', amount: units('1'), address, label: undefined };
    // A crash after the journal and before, or after, the first byte.
    desk.begin(lost, new URL(stub.url).host, now);
    desk.close();
    const { message, exitCode } = await refusalLater(() => apply(command()));
    expect(message).toContain('an earlier withdrawal is not known yet, and another one could pay twice: wlost');
    expect(exitCode).toBe(3);
    expect(applications()).toHaveLength(0);
    // Rows without our ids prove nothing, however late.
    now += absentAfterMs + 1;
    listed = [row('', { withdrawOrderId: null })];
    expect((await refusalLater(() => apply(command()))).exitCode).toBe(3);
    listed = [];
    await apply(command());
    expect(applications()).toHaveLength(1);
    await list(command());
    const book = openJournal(join(dir, 'state'));
    expect(book.entry('wlost')?.state).toBe('absent');
    book.close();
  });

  it.each<[string, number, typeof answerQuery]>([
    // What the exchange answers of a withdrawal that it has.
    [
      'one older than what the exchange looks back on its own',
      100,
      ({ startTime }) => {
        const from = Number(startTime ?? now - 90 * dayMs);
        const rows = listed.filter((one) => (one as { ctime: number }).ctime >= from);
        return { withdrawList: rows, count: rows.length };
      },
    ],
    [
      'one that is listed under the name of its coin',
      1,
      ({ symbol = 'USDT' }) => {
        const rows = symbol === 'USDT' ? listed : [];
        return { withdrawList: rows, count: rows.length };
      },
    ],
    ['one on another page of a list that is not counted', 1, () => ({ withdrawList: [row('another')] })],
  ])('is never taken for nothing: %s', async (_, days, answer) => {
    const desk = openJournal(join(dir, 'state'));
    const lost = { withdrawOrderId: 'wlost', asset: 'TUSDT', amount: units('25.5'), address, label: undefined };
    desk.begin(lost, new URL(stub.url).host, now);
    desk.close();
    listed = [row('wlost', { symbol: 'USDT' })];
    now += days * dayMs;
    answerQuery = answer;
    await list(command());
    const book = openJournal(join(dir, 'state'));
    expect(book.entry('wlost')?.state).not.toBe('absent');
    book.close();
  });

  it.each<[string, object]>([
    ['a success that is none', { code: '0', succ: false }],
    ['the same with an id', { code: '0', succ: false, data: { id: 183_745 } }],
    ['a failure without a code', { succ: false }],
    ['the status of a gateway as a code', { code: '504', msg: 'gateway timeout' }],
    ['a code that nobody has described', { code: '77001', msg: '处理中' }],
    ['a code that may come after the withdrawal was passed on', { code: '-1007', msg: 'timeout' }],
  ])('is all that an answer proves that is %s', async (_, answer) => {
    const impatient = new AbortController();
    answerApply = () => {
      impatient.abort();
      return answer;
    };
    const { message } = await refusalLater(() => apply(command({ id: 'mine', signal: impatient.signal })));
    expect(message).not.toContain('apply again');
    expect(message).toContain('it is never sent twice');
    listed = [row('mine')];
    await list(command());
    const book = openJournal(join(dir, 'state'));
    expect(book.entry('mine')?.state).toBe('accepted');
    book.close();
  });

  it('is seen from every directory: the journal has one place', async () => {
    const { state: _, ...asked } = command();
    await apply(asked);
    const book = openJournal(join(dir, 'sluice', 'withdraw'));
    expect(book.entries()).toHaveLength(1);
    book.close();
    for (const home of [undefined, '', 'relative']) expect(isAbsolute(journalDir({ XDG_STATE_HOME: home }))).toBe(true);
  });

  it('is not sent where its journal cannot be kept', async () => {
    writeFileSync(join(dir, 'state'), '');
    const no = (what: string) => ({
      exitCode: 3,
      message: expect.stringMatching(`cannot be used \\(${what}.*: nothing was sent`),
    });
    expect(await refusalLater(() => apply(command()))).toMatchObject(no('E'));
    rmSync(join(dir, 'state'));
    mkdirSync(join(dir, 'state'));
    writeFileSync(join(dir, 'state', 'withdrawals.db'), 'x'.repeat(9_000));
    expect(await refusalLater(() => apply(command()))).toMatchObject(no('file is not a database'));
    expect(applications()).toHaveLength(0);
  });

  it('of an id that was used is told, not sent; another withdrawal under it is refused', async () => {
    await apply(command({ id: 'rent-january' }));
    await apply(command({ id: 'rent-january' }));
    expect(applications()).toHaveLength(1);
    expect(printed[1]).toBe(printed[0]);
    const { exitCode } = await refusalLater(() =>
      apply(command({ id: 'rent-january', amount: '26' }, ['26', address])),
    );
    expect(exitCode).toBe(3);
    expect(applications()).toHaveLength(1);
  });

  it('under which the exchange lists something else stays open', async () => {
    // Whoever has no patience to wait for the answers is told the same by the list.
    const impatient = new AbortController();
    answerApply = () => {
      impatient.abort();
      return undefined;
    };
    listed = [row('mine', { amount: '99' })];
    const { message } = await refusalLater(() => apply(command({ id: 'mine', signal: impatient.signal })));
    expect(message).toContain('it is never sent twice');
    await list(command());
    expect(said.at(-1)).toContain('another withdrawal under this id');
  });
});

describe('a refusal', () => {
  it('gives the code, its meaning and what to do', async () => {
    answerApply = () => ({ code: '-2017', msg: '余额不足' });
    const { message, exitCode } = await refusalLater(() => apply(command()));
    expect(message).toContain('-2017');
    expect(message).toContain('it means: the balance is too small');
    expect(exitCode).toBe(1);
    answerApply = () => ({ code: '0', data: { id: 5 } });
    await apply(command());
    expect(applications()).toHaveLength(2);
  });

  const atTheDoor = '-1021 -1022 -1102 -1121 -1136 -2015 -2016 -2026 -2200 10004 110049'.split(' ');
  const afterIt = '-1000 -1001 -1003 -1006 -1007 -1015 -1016 -9999 0 502'.split(' ');
  it.each([...atTheDoor.map((code) => [code, 'refused']), ...afterIt.map((code) => [code, 'unknown'])])(
    'is known by its code: %s leaves it %s',
    async (code, state) => {
      answerApply = () => ({ code, msg: 'no' });
      const { message } = await refusalLater(() => apply(command({ id: 'mine', signal: AbortSignal.abort() })));
      expect(message).toContain(state === 'refused' ? code : 'no confirmation that the exchange accepted it');
      const book = openJournal(join(dir, 'state'));
      expect(book.entry('mine')?.state).toBe(state);
      book.close();
    },
  );

  it('comes where another one is at work', async () => {
    const desk = openJournal(join(dir, 'state'));
    expect((await refusalLater(() => apply(command()))).message).toContain('another sluice-withdraw uses');
    desk.close();
  });
});

describe('the list', () => {
  it('refuses a day that the calendar has not', async () => {
    expect((await refusalLater(() => list({ ...command(), since: '2026-02-30' }))).message).toBe(
      '--since 2026-02-30: must be a day such as 2026-01-31',
    );
  });

  it('is a table for people and lines for programs', async () => {
    listed = [row('w1', { status: 5, txId: '0xabc' })];
    const { asset: _, ...asked } = command();
    await list({ ...asked, json: true, id: 'w1', since: '2026-01-01' });
    expect(printed.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        createTime: now,
        id: '7',
        withdrawOrderId: 'w1',
        asset: 'TUSDT',
        amount: '25.5',
        fee: '1',
        address,
        status: 'completed',
        txId: '0xabc',
        info: null,
      },
    ]);
    expect(stub.requests.at(-1)?.body).toBe(`{"withdrawOrderId":"w1","startTime":"${Date.UTC(2026, 0, 1)}"}`);
    await list(command());
    expect(printed.at(-1)).toContain('completed');
  });
});
