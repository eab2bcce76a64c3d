/** §2.6, §3.2, §4.5: withdrawals. Nothing is ever applied for unless a destination was given. */
import { equal, notEqual, ok } from 'node:assert/strict';
import type { Check } from '../check.ts';
import { balances, demandNothing, freshId } from '../orders.ts';
import type { Session } from '../session.ts';
import { decimal, type Fields, fields, longNumber, ms, rows, shown, text } from '../shape.ts';
import { now } from '../time.ts';

const applyPath = '/sapi/v1/withdraw/apply';
const queryPath = '/sapi/v1/withdraw/query';
const look = ['key', 'withdrawals'] as const;
const withdraw = [...look, 'withdraw'] as const;
const days90Ms = 90 * 86_400_000;

/** The envelope of §4.5: `code` is a string. */
async function tell(at: Session, path: string, body: object): Promise<Fields> {
  const reply = await at.tell(path, body);
  demandNothing(reply);
  const envelope = fields(reply.value, `the reply ${shown(reply.text)}`);
  text(envelope['code'], 'code');
  text(envelope['msg'], 'msg');
  return envelope;
}

async function list(at: Session, query: object = {}): Promise<readonly Fields[]> {
  const { code, data, msg } = await tell(at, queryPath, query);
  equal(code, '0', String(msg));
  const { withdrawList, count } = fields(data, 'data');
  const found = rows(withdrawList, 'withdrawList');
  equal(typeof count, 'number', 'count is no number');
  ok(Number(count) >= found.length, `count is ${shown(count)} for ${found.length} records`);
  return found;
}

function request(at: Session, change: object = {}): object {
  const { withdrawal } = at.target;
  ok(withdrawal !== undefined, 'this check needs a destination');
  return { withdrawOrderId: freshId(), ...withdrawal, ...change };
}

async function refused(at: Session, change: object): Promise<void> {
  const reply = await at.tell(applyPath, request(at, change));
  const { code } = fields(reply.value, `the reply ${shown(reply.text)}`);
  text(code, 'code');
  notEqual(Number(code), 0, `it was accepted: ${shown(reply.text)}`);
}

async function apply(at: Session, body: object = request(at)): Promise<string> {
  const { code, data, msg } = await tell(at, applyPath, body);
  equal(code, '0', String(msg));
  return String(fields(data, 'data')['id']);
}

const reading: readonly Check[] = [
  {
    section: '4.5',
    needs: look,
    says: 'lists withdrawals, all filters being optional',
    async run(at) {
      await list(at);
      await list(at, { page: '1' });
      await list(at, { symbol: at.busy.quote });
    },
  },
  {
    section: '4.5',
    needs: look,
    says: 'takes the times of a withdrawal query as numbers and as text',
    async run(at) {
      const [startTime, endTime] = [now() + at.offset - 86_400_000, now() + at.offset];
      await list(at, { startTime, endTime });
      await list(at, { startTime: String(startTime), endTime: String(endTime) });
    },
  },
  {
    section: '4.5',
    needs: look,
    says: 'finds nothing under an id that nobody gave',
    run: async (at) => equal((await list(at, { withdrawOrderId: freshId() })).length, 0),
  },
];

const applying: readonly Check[] = [
  {
    section: '4.5',
    needs: withdraw,
    says: 'accepts a withdrawal, lists it as unapproved, and finds it by both ids',
    async run(at) {
      const withdrawOrderId = freshId();
      const id = await apply(at, request(at, { withdrawOrderId }));
      for (const query of [{ withdrawOrderId }, { withdrawId: id }, { symbol: at.target.withdrawal?.symbol }]) {
        const row = (await list(at, query)).find((one) => one['withdrawOrderId'] === withdrawOrderId);
        ok(row !== undefined, `it is not among those of ${shown(query)}`);
        equal(longNumber(row['id'], 'id'), id);
        equal(row['status'], 0, 'status');
        equal(row['address'], at.target.withdrawal?.address);
        equal(text(row['symbol'], 'symbol').toUpperCase(), at.target.withdrawal?.symbol.toUpperCase());
        equal(decimal(row['amount'], 'amount'), Number(at.target.withdrawal?.amount));
        ok(decimal(row['fee'], 'fee') >= 0, 'the fee is below zero');
        ms(longNumber(row['ctime'], 'ctime'), 'ctime');
        for (const name of ['txId', 'info'])
          ok(row[name] === null || typeof row[name] === 'string', `${name} is ${shown(row[name])}`);
      }
    },
  },
  {
    section: '4.5',
    needs: withdraw,
    says: 'refuses a `withdrawOrderId` that was used before',
    async run(at) {
      const withdrawOrderId = freshId();
      await apply(at, request(at, { withdrawOrderId }));
      await refused(at, { withdrawOrderId });
      equal((await list(at, { withdrawOrderId })).length, 1);
    },
  },
  {
    section: '4.5',
    observed: '4',
    needs: withdraw,
    says: 'refuses it with -2018',
    async run(at) {
      const body = request(at);
      await apply(at, body);
      equal(Number(fields((await at.tell(applyPath, body)).value, 'the reply')['code']), -2018);
    },
  },
  {
    section: '4.5',
    needs: withdraw,
    says: 'refuses a withdrawal without its id, amount or address',
    async run(at) {
      for (const name of ['withdrawOrderId', 'amount', 'address']) await refused(at, { [name]: undefined });
    },
  },
  {
    section: '4.5',
    needs: withdraw,
    says: 'refuses an amount of nothing, below zero, beyond the balance, or that is no number',
    async run(at) {
      for (const amount of ['0', '-1', '1000000000000', 'much']) await refused(at, { amount });
    },
  },
  {
    section: '4.5',
    observed: '11',
    needs: withdraw,
    says: 'locks what is to be withdrawn',
    async run(at) {
      const asset = String(at.target.withdrawal?.symbol).toUpperCase();
      const free = async (): Promise<number> => (await balances(at)).get(asset)?.free ?? 0;
      const before = await free();
      await apply(at);
      ok((await free()) < before, `${asset} is as free as before`);
    },
  },
  {
    section: '8',
    needs: withdraw,
    says: 'looks 90 days back unless told otherwise, and where it is told',
    async run(at) {
      const withdrawOrderId = freshId();
      await apply(at, request(at, { withdrawOrderId }));
      const time = now() + at.offset;
      const count = async (query: object): Promise<number> => (await list(at, { withdrawOrderId, ...query })).length;
      equal(await count({}), 1);
      equal(await count({ startTime: time - days90Ms, endTime: time + 60_000 }), 1);
      equal(await count({ startTime: time - days90Ms, endTime: time - 60_000 }), 0);
      equal(await count({ startTime: time + 60_000, endTime: time + 120_000 }), 0);
    },
  },
  {
    section: '4.5',
    needs: withdraw,
    says: 'serves further withdrawals on further pages',
    async run(at) {
      const first = await list(at, { page: '1' });
      const beyond = await list(at, { page: '1000' });
      ok(first.length > 0, 'the first page is empty');
      equal(beyond.length, 0, 'page 1000 is not empty');
    },
  },
];

export const withdrawalChecks: readonly Check[] = [...reading, ...applying];
