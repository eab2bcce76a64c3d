/** §5: keys, signatures and the time window. */
import { equal, ok } from 'node:assert/strict';
import type { Check } from '../check.ts';
import { type Reply, type Sending, signatureOf, signedHeaders } from '../http.ts';
import { orderBody } from '../orders.ts';
import { nameOf, type Session, withQuery } from '../session.ts';
import { fields } from '../shape.ts';
import { now } from '../time.ts';

const key = ['key'] as const;
const accountPath = '/sapi/v1/account';
const testPath = '/sapi/v1/order/test';

/** The codes for what is wrong with a signature or a time, as vendors document them. */
const codes = {
  noKey: [-1002],
  noTime: [-1023],
  noSignature: [-1024],
  signature: [-1022],
  time: [-1021],
  keyFormat: [-2014, -2015],
};

const timeOf = (at: Session): number => now() + at.offset;

/** Asks for the account with headers of one's own making. */
async function account(at: Session, change: (headers: Record<string, string>) => void): Promise<Reply> {
  const sending: Sending = { method: 'GET', target: accountPath };
  const headers = signedHeaders(at.main, sending, timeOf(at));
  change(headers);
  return at.raw({ ...sending, headers });
}

const last = (signature: string): string => (signature.endsWith('0') ? '1' : '0');

const keys: readonly Check[] = [
  {
    section: '5.2',
    needs: key,
    gives: 'key',
    says: 'accepts a right signature',
    run: async (at) => void at.answers.done(await account(at, () => {})),
  },
  {
    section: '5.2',
    needs: key,
    says: 'accepts a right signature in upper case',
    async run(at) {
      const upper = await account(at, (headers) => {
        headers['X-CH-SIGN'] = String(headers['X-CH-SIGN']).toUpperCase();
      });
      at.answers.done(upper);
    },
  },
  ...(
    [
      ['no key', 'X-CH-APIKEY', codes.noKey],
      ['no timestamp', 'X-CH-TS', codes.noTime],
      ['no signature', 'X-CH-SIGN', codes.noSignature],
    ] as const
  ).map(
    ([what, name, allowed]): Check => ({
      section: '5.2',
      needs: key,
      says: `refuses a signed operation with ${what}`,
      run: async (at) =>
        void at.answers.refused(
          await account(at, (headers) => {
            delete headers[name];
          }),
          allowed,
        ),
    }),
  ),
  {
    section: '5.2',
    needs: key,
    says: 'refuses a signature that is wrong in one digit, is cut short or is none',
    async run(at) {
      for (const wrong of [
        (right: string) => `${right.slice(0, -1)}${last(right)}`,
        (right: string) => right.slice(0, -2),
        () => 'zz',
      ]) {
        const reply = await account(at, (headers) => {
          headers['X-CH-SIGN'] = wrong(String(headers['X-CH-SIGN']));
        });
        at.answers.refused(reply, codes.signature);
      }
    },
  },
  {
    section: '5.2',
    needs: key,
    says: 'refuses a timestamp, a method, a path or a secret other than the signed one',
    async run(at) {
      const time = timeOf(at);
      const { secret } = at.main;
      for (const wrong of [
        signatureOf(secret, time - 1, 'GET', accountPath),
        signatureOf(secret, time, 'get', accountPath),
        signatureOf(secret, time, 'POST', accountPath),
        signatureOf(secret, time, 'GET', '/sapi/v1/openOrders'),
        signatureOf(secret, time, 'GET', `${accountPath}?`),
        signatureOf(
          secret === secret.toUpperCase() ? secret.toLowerCase() : secret.toUpperCase(),
          time,
          'GET',
          accountPath,
        ),
      ]) {
        const headers = { 'X-CH-APIKEY': at.main.key, 'X-CH-TS': String(time), 'X-CH-SIGN': wrong };
        at.answers.refused(await at.raw({ method: 'GET', target: accountPath, headers }), codes.signature);
      }
    },
  },
  {
    section: '5.1',
    needs: key,
    says: 'minds the case of a key',
    async run(at) {
      const { key: own } = at.main;
      const other = own === own.toUpperCase() ? own.toLowerCase() : own.toUpperCase();
      const reply = await account(at, (headers) => {
        headers['X-CH-APIKEY'] = other;
      });
      at.answers.refused(reply, codes.keyFormat);
    },
  },
  {
    section: '5.1',
    needs: ['key', 'readOnly'],
    says: 'lets a key that may only read look, and not trade',
    async run(at) {
      const as = at.target.keys?.readOnly ?? at.main;
      at.answers.done(await at.ask(accountPath, {}, { as }));
      at.answers.refused(await at.tell('/sapi/v1/order', await orderBody(at), { as }), [-2015, 10005, 10006, 35]);
    },
  },
  {
    section: '5.1',
    observed: '4',
    needs: ['key', 'elsewhere'],
    says: 'refuses a key from an address that it is not for with -2015',
    run: async (at) =>
      void at.answers.refused(
        await at.ask(accountPath, {}, { as: at.target.keys?.elsewhere ?? at.main }),
        [-2015, -2200, 40],
      ),
  },
];

const targets: readonly Check[] = [
  {
    section: '5.2',
    needs: key,
    says: 'signs the query as part of the path, in whatever order its parameters stand',
    async run(at) {
      const symbol = nameOf(at.busy);
      for (const target of [`symbol=${symbol}&limit=5`, `limit=5&symbol=${symbol}`]) {
        const sending = { method: 'GET', target: `/sapi/v1/openOrders?${target}` };
        at.answers.list(
          await at.raw({ ...sending, headers: signedHeaders(at.main, sending, timeOf(at)) }),
          'the open orders',
        );
      }
    },
  },
  {
    section: '5.2',
    needs: key,
    says: 'refuses a query that was not signed, or was signed in another order',
    async run(at) {
      const symbol = nameOf(at.busy);
      const sent = `/sapi/v1/openOrders?symbol=${symbol}&limit=5`;
      for (const signed of ['/sapi/v1/openOrders', `/sapi/v1/openOrders?limit=5&symbol=${symbol}`]) {
        const headers = signedHeaders(at.main, { method: 'GET', target: signed }, timeOf(at));
        at.answers.refused(await at.raw({ method: 'GET', target: sent, headers }), codes.signature);
      }
    },
  },
  {
    section: '5.2',
    observed: '6',
    needs: key,
    says: 'signs a percent-encoded query as it was sent, and no other spelling of it',
    async run(at) {
      const { base, quote } = at.busy;
      const symbol = `${base}/${quote}`.toLowerCase();
      const sent = withQuery('/sapi/v1/openOrders', { symbol, limit: '1' });
      ok(sent.includes('%2F'), sent);
      for (const target of [sent, sent.replace('%2F', '%2f')]) {
        const headers = signedHeaders(at.main, { method: 'GET', target }, timeOf(at));
        at.answers.list(await at.raw({ method: 'GET', target, headers }), 'the open orders');
      }
      const plain = signedHeaders(at.main, { method: 'GET', target: decodeURIComponent(sent) }, timeOf(at));
      at.answers.refused(await at.raw({ method: 'GET', target: sent, headers: plain }), codes.signature);
    },
  },
  {
    section: '5.2',
    needs: key,
    says: 'signs the body of a POST byte for byte',
    async run(at) {
      const body = JSON.stringify(await orderBody(at));
      for (const spelling of [body, body.replaceAll(',', ', '), body.replaceAll(':', ' : ')])
        at.answers.done(await at.tell(testPath, spelling));
      const headers = signedHeaders(at.main, { method: 'POST', target: testPath, body }, timeOf(at));
      const reply = await at.raw({ method: 'POST', target: testPath, body: body.replace(':', ': '), headers });
      at.answers.refused(reply, codes.signature);
    },
  },
  {
    section: '5.2',
    needs: ['key', 'withdrawals'],
    says: 'signs an empty body as nothing, and {} as {}',
    async run(at) {
      const path = '/sapi/v1/withdraw/query';
      for (const body of ['', '{}']) {
        const sending = { method: 'POST', target: path, body };
        const reply = await at.raw({ ...sending, headers: signedHeaders(at.main, sending, timeOf(at)) });
        equal(String(fields(reply.value, 'the reply')['code']), '0', `body ${JSON.stringify(body)}: ${reply.text}`);
      }
      const headers = signedHeaders(at.main, { method: 'POST', target: path, body: '{}' }, timeOf(at));
      // The codes of withdrawals are text (§4.5).
      const { value } = await at.raw({ method: 'POST', target: path, body: '', headers });
      equal(Number(fields(value, 'the refusal')['code']), -1022);
    },
  },
  {
    section: '5.2',
    needs: key,
    says: 'refuses the published vector, whose time is long over and whose key is of nobody',
    async run(at) {
      const body = '{"symbol":"BTCUSDT","price":"9300","volume":"1","side":"BUY","type":"LIMIT"}';
      const sign = signatureOf('902ae3cb34ecee2779aa4d3e1d226686', '1588591856950', 'POST', testPath, body);
      equal(sign, 'c50d0a74bb9427a9a03933d0eded03af9bf50115dc5b706882a4fcf07a26b761');
      const headers = { 'X-CH-APIKEY': 'a-key-of-nobody', 'X-CH-TS': '1588591856950', 'X-CH-SIGN': sign };
      at.answers.refused(await at.raw({ method: 'POST', target: testPath, body, headers }));
    },
  },
];

/** Clear of the edges by more than a request takes. */
const slackMs = 600;

const times: readonly Check[] = [
  {
    section: '5.3',
    needs: key,
    says: 'accepts a timestamp up to 5000 ms old and less than 1000 ms ahead',
    async run(at) {
      for (const aheadMs of [0, -5_000 + 2 * slackMs, 1_000 - slackMs])
        at.answers.done(await at.ask(accountPath, {}, { aheadMs }));
    },
  },
  {
    section: '5.3',
    needs: key,
    says: 'refuses an older timestamp',
    async run(at) {
      for (const aheadMs of [-5_000 - slackMs, -3_600_000])
        at.answers.refused(await at.ask(accountPath, {}, { aheadMs }), codes.time);
    },
  },
  {
    section: '5.3',
    needs: key,
    says: 'refuses a timestamp 1000 ms and more ahead',
    async run(at) {
      const slack = at.answers.profile === 'observed' ? 2_000 : 0; // some tolerate 3 s
      for (const aheadMs of [1_000 + slack + slackMs, 3_600_000])
        at.answers.refused(await at.ask(accountPath, {}, { aheadMs }), codes.time);
    },
  },
  ...(['recvWindow', 'recvwindow', 'recwwindow'] as const).map(
    (name): Check => ({
      section: '5.3',
      ...(name === 'recvWindow' ? {} : { observed: '7' }),
      needs: key,
      says: `keeps to \`${name}\` in the body, shorter and longer than 5000`,
      async run(at) {
        const body = await orderBody(at);
        at.answers.refused(
          await at.tell(testPath, { ...body, [name]: 1_000 }, { aheadMs: -1_000 - slackMs }),
          codes.time,
        );
        at.answers.done(await at.tell(testPath, { ...body, [name]: 1_000 }, { aheadMs: -100 }));
        at.answers.done(await at.tell(testPath, { ...body, [name]: 60_000 }, { aheadMs: -20_000 }));
        at.answers.refused(
          await at.tell(testPath, { ...body, [name]: 60_000 }, { aheadMs: 3_000 + slackMs }),
          codes.time,
        );
      },
    }),
  ),
  {
    section: '5.3',
    needs: key,
    says: 'refuses a timestamp that is no time',
    async run(at) {
      for (const time of ['now', '-1', '1e12', '']) {
        const sign = signatureOf(at.main.secret, time, 'GET', accountPath);
        const headers = { 'X-CH-APIKEY': at.main.key, 'X-CH-TS': time, 'X-CH-SIGN': sign };
        at.answers.refused(await at.raw({ method: 'GET', target: accountPath, headers }));
      }
    },
  },
];

export const signatureChecks: readonly Check[] = [...keys, ...targets, ...times];
