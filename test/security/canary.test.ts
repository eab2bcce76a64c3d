/**
 * A canary: every secret of a daemon is a text that stands nowhere else. Strategies, the exchange and people state all of them, in each form. Then every
 * output is searched for them.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { type Ran, sluice } from '../kit/program.ts';
import { makeRig, openExchange, type Rig, target, trader, whale } from '../kit/rig.ts';
import { botApi, closeServices, mailServer, service } from '../kit/services.ts';
import { until } from '../kit/until.ts';

/** Characters that each way of writing changes. */
const made = (name: string): string => `canary-${name}-/+"&%=z`;
const key = 'canary-key-4f1c2a9e';
const secret = made('secret');
const botToken = '7012345678:AAcanary-token-of-the-bot';
const password = made('smtp');
const metricsToken = 'canary-metrics-token-0123456789';
const passphrase = made('backup');
const inAddress = {
  slack: 'canary-slack-path',
  discord: 'canary-discord-path',
  ntfy: 'canary-topic',
  hook: 'canary-hook',
  ping: 'canary-ping',
};
const secrets: Readonly<Record<string, string>> = {
  ...{ key, secret, botToken, password, metricsToken, passphrase, ...inAddress },
};

/** In Base64 it may begin at each of three places. */
const base64 = (text: string, place: number): string =>
  Buffer.from(`${'x'.repeat(place)}${text}zzzz`).toString('base64');
const plainly = (text: string): readonly string[] => [
  ...[text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1), Buffer.from(text).toString('hex')],
];
/** The forms in which somebody states a secret. */
const stated = (text: string): readonly string[] => [
  ...plainly(text),
  ...[0, 1, 2].map((place) => base64(text, place)),
];
/** The forms that are searched: what is beside it changes the first and the last characters of Base64. */
const searched = (text: string): readonly string[] => [
  ...plainly(text),
  ...[0, 1, 2].map((place) => base64(text, place).slice(4, -10)),
];
const leak = Object.values(secrets).flatMap(stated).join(' ');
/** So much of it as a reason may have, from each of them. */
const shortLeak = Object.values(secrets).join(' ').slice(0, 480);

let exchange: Simulator;
let rig: Rig;
/** Everything that came out, by its name. */
const outputs = new Map<string, string>();
const keep = (name: string, { stdout, stderr }: Pick<Ran, 'stdout' | 'stderr'>): void =>
  void outputs.set(name, stdout + stderr);

async function services() {
  const [bot, mail, web] = [await botApi(botToken), await mailServer(), await service((reply) => void reply.end('ok'))];
  const mailUser = `me:${encodeURIComponent(password)}`;
  Object.assign(rig.env, {
    SLUICE_API_KEY: key,
    SLUICE_API_SECRET: secret,
    SLUICE_METRICS_TOKEN: metricsToken,
    SLUICE_BACKUP_PASSPHRASE: passphrase,
    SLUICE_ALERT_PHONE: botToken,
    SLUICE_ALERT_TEAM: `${web.url}/${inAddress.slack}`,
    SLUICE_ALERT_GUILD: `${web.url}/${inAddress.discord}`,
    SLUICE_ALERT_PUSH: `${web.url}/${inAddress.ntfy}`,
    SLUICE_ALERT_HOOK: `${web.url}/?key=${inAddress.hook}`,
    SLUICE_ALERT_MAIL: `smtp://${mailUser}@127.0.0.1:${mail.port}?ignoreTLS=true`,
    SLUICE_PING_URL: `${web.url}/${inAddress.ping}`,
  });
  const channels = {
    phone: { type: 'telegram', chat: '42', server: bot.url, commandsFrom: ['42'] },
    ...{ team: { type: 'slack' }, guild: { type: 'discord' }, push: { type: 'ntfy' }, hook: { type: 'webhook' } },
    mail: { type: 'email', from: 'sluice@example.org', to: ['me@example.org'] },
  };
  const routes = [{ minLevel: 'info', to: Object.keys(channels), escalate: { repeatMs: 3_600_000, to: ['phone'] } }];
  rig.configure({
    alerts: { channels, routes, maxPerHour: 10_000, ping: { everyMs: 1_000 } },
    metrics: { port: 0 },
    risk: { maxOrderValue: '2000' },
  });
  return { bot, mail, web };
}

/** Of the dashboard: the terminal and this file alone have it. */
const daemonInfo = (): { readonly control: string; readonly token: string } =>
  JSON.parse(readFileSync(join(rig.state, 'daemon.json'), 'utf8'));
const tokens: string[] = [];

/** What the daemon answers to whoever has its token. */
async function ask(daemonLines: readonly string[]): Promise<void> {
  const { control, token } = daemonInfo();
  tokens.push(token);
  const bearer = { authorization: `Bearer ${token}` };
  for (const path of [
    'view',
    'history/log?level=debug',
    'history/why?subject=taker',
    'history/why?subject=maker',
    'history/denials?hours=1',
    'history/performance',
  ])
    outputs.set(`dashboard ${path}`, await (await fetch(`${control}/api/${path}`, { headers: bearer })).text());
  for (const [name, body] of [
    ['kill', { reason: shortLeak }],
    ['resume', { reason: leak }],
    ['cancel', { order: shortLeak.slice(0, 60) }],
  ] as const) {
    const headers = { ...bearer, 'content-type': 'application/json' };
    const reply = await fetch(`${control}/api/${name}`, { method: 'POST', headers, body: JSON.stringify(body) });
    outputs.set(`POST ${name}`, await reply.text());
  }
  const metrics = /http:\/\/[\d.:]+/.exec(daemonLines.find((line) => line.startsWith('metrics')) ?? '')?.[0] ?? '';
  for (const path of ['health', 'ready', 'metrics']) {
    const headers = { authorization: `Bearer ${metricsToken}` };
    outputs.set(`/${path}`, await (await fetch(`${metrics}/${path}`, { headers })).text());
  }
}

const commands: readonly (readonly string[])[] = [
  ...[['status'], ['status', '--json'], ['orders'], ['fills'], ['positions'], ['top'], ['top', '--json'], ['pnl']],
  ...[
    ['why', 'taker'],
    ['why', 'maker'],
    ['why', 'other'],
    ['why', shortLeak.slice(0, 90)],
    ['alerts', 'list', '--json'],
  ],
  ...[['export'], ['export', 'tables'], ['journal', 'check'], ['journal', 'size'], ['kill', '--reason', shortLeak]],
];

beforeAll(async () => {
  exchange = await openExchange({ users: [{ ...trader, key, secret }, whale] });
  rig = makeRig(exchange);
  const { bot, mail, web } = await services();
  keep(
    'doctor',
    await sluice(['doctor', '--config', join(rig.dir, 'live.yaml'), '--state', join(rig.dir, 'none')], rig),
  );
  keep('alerts test', await sluice(['alerts', 'test', '--config', join(rig.dir, 'live.yaml')], rig));
  rig.emit('taker', { ...target(0.1), reason: leak });
  const daemon = await rig.start('--log-level', 'trace');
  await until('a fill', () => exchange.allTrades(trader.uid).length > 0);
  rig.emit('other', { ...target(1), reason: leak });
  await daemon.line(/denied/);
  rig.emit('maker', { kind: 'throw', text: leak });
  await daemon.line(/maker threw/);
  bot.write(`/pause taker ${shortLeak}`);
  await bot.answer(/taker/);
  bot.write('/why taker');
  bot.write('/status');
  await bot.answer(/ live: /);
  await ask(daemon.lines);
  for (const args of commands) {
    const [first = '', ...others] = args;
    keep(args.join(' ').slice(0, 20), await rig.run(first, ...others));
  }
  writeFileSync(join(rig.state, 'kill'), leak);
  await daemon.line(/by file/);
  keep('backup', await rig.run('journal', 'backup', join(rig.dir, 'encrypted')));
  await until('mail', () => mail.lines.some((line) => line.startsWith('Subject:')));
  await daemon.end('SIGINT');
  rmSync(join(rig.state, 'kill'), { force: true });
  rig.emit('taker', { kind: 'crash', text: leak });
  const crashing = rig.launch('--log-level', 'trace', '--json');
  await crashing.exited;
  tokens.push(daemonInfo().token);
  outputs.set('terminal', daemon.lines.join('\n'));
  outputs.set('terminal of the crash', crashing.lines.join('\n'));
  outputs.set('telegram', JSON.stringify(bot.sent));
  for (const [index, { path, body, headers }] of web.taken.entries())
    outputs.set(`message ${index} ${path}`, JSON.stringify([body, { ...headers, host: '' }]));
  outputs.set('mail', mail.lines.filter((line) => !line.startsWith('AUTH')).join('\n'));
  for (const dir of [rig.state, join(rig.dir, 'encrypted')])
    for (const file of readdirSync(dir, { recursive: true, encoding: 'utf8' }))
      if (!file.endsWith('daemon.json'))
        try {
          outputs.set(`file ${file}`, readFileSync(join(dir, file), 'latin1'));
        } catch {
          // A folder.
        }
});
afterAll(async () => {
  closeServices();
  rig.remove();
  await exchange.close();
});

test.each(Object.entries(secrets))('%s stands in no output, in no form', (_, one) => {
  const found = [...outputs].flatMap(([name, text]) =>
    searched(one)
      .filter((form) => text.includes(form))
      .map((form) => `${name}: ${text.slice(Math.max(0, text.indexOf(form) - 60)).slice(0, 160)}`),
  );
  expect(found).toEqual([]);
});

test('each start has a token of its own for the dashboard, and only the terminal shows it', () => {
  expect(new Set(tokens).size).toBe(2);
  for (const [name, text] of outputs)
    if (!name.startsWith('terminal')) for (const token of tokens) expect(text.includes(token), name).toBe(false);
});

test('every output was there to be searched', () => {
  for (const name of [
    'terminal',
    'telegram',
    'mail',
    '/metrics',
    'dashboard view',
    'file journal.db',
    'file sluice.log',
    'file alerts.db',
  ])
    expect(outputs.get(name)?.length, name).toBeGreaterThan(100);
  for (const path of Object.values(inAddress))
    expect(
      [...outputs.keys()].filter((name) => name.includes(path)),
      path,
    ).not.toEqual([]);
  expect(outputs.get('terminal of the crash')).toContain('stopped by a failure');
  expect(outputs.get('terminal')).toContain('•••');
});
