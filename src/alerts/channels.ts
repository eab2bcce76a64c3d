/** How each kind of channel sends a text. In: its configuration and its one secret. Out: an error text, or undefined once it was taken. */
import { createTransport } from 'nodemailer';
import type { ChannelConfig } from '../config/alerts.ts';
import { jsonOf } from '../domain/json.ts';
import { codeOf, cutOffAfter, post } from './request.ts';
import type { AlertLevel } from './routes.ts';

export interface Outgoing {
  readonly level: AlertLevel;
  /** Of the newest alert in it, by the exchange's clock, UTC ms. */
  readonly time: number;
  readonly text: string;
}

/** Sends within ten seconds; returns why it failed. It throws nothing. */
export type Send = (message: Outgoing) => Promise<string | undefined>;

/** Longest text that every channel takes, characters (Discord: 2000). */
export const maxCharacters = 1_900;

const priorities: Readonly<Record<AlertLevel, string>> = { info: '2', warn: '4', error: '5' };

/** `secret`: the address with its token, or the token of a Telegram bot. */
export function channelOf(config: ChannelConfig, secret: string): Send {
  switch (config.type) {
    case 'telegram': {
      const { server, chat } = config;
      // Without a parse mode it is plain text.
      const plain = { link_preview_options: { is_disabled: true } };
      return ({ text }) =>
        post(`${server}/bot${secret}/sendMessage`, { json: { chat_id: chat, text, ...plain } }, (answer) =>
          fieldsOf(answer)['ok'] === true ? undefined : refused(answer),
        );
    }
    case 'slack': {
      const plain = { mrkdwn: false, unfurl_links: false, unfurl_media: false };
      return ({ text }) => post(secret, { json: { text: forSlack(text), ...plain } }, refusedBy);
    }
    case 'discord': {
      const plain = { allowed_mentions: { parse: [] }, flags: suppressEmbeds };
      return ({ text }) => post(secret, { json: { content: forDiscord(text), ...plain } }, refusedBy);
    }
    case 'ntfy':
      return ({ text, level }) =>
        post(secret, { body: text, headers: { title: 'Sluice', priority: priorities[level] } }, refusedBy);
    case 'webhook': {
      const { template } = config;
      return (message) =>
        template === undefined
          ? post(secret, { json: { ...message } })
          : post(secret, { body: filled(template, message), headers: { 'content-type': 'application/json' } });
    }
    case 'email':
      return emailOf(config, secret);
  }
}

const fieldsOf = (answer: string): Readonly<Record<string, unknown>> => Object(jsonOf(answer));

/** Only the number: the words of an answer may repeat the address. */
function refused(answer: string): string {
  const { error_code: number, code = number } = fieldsOf(answer);
  return `the service refused it${typeof code === 'number' ? ` (${code})` : ''}`;
}

/** Some services say with the status of success that they took nothing. So does a page of a firewall or of a hotel between here and them. */
function refusedBy(answer: string): string | undefined {
  const { ok, success, error } = fieldsOf(answer);
  if (ok === false || success === false || (error !== undefined && error !== null)) return refused(answer);
  return answer.trimStart().startsWith('<') ? 'a web page answered instead of the service' : undefined;
}

/** Slack reads &, < and > as markup: links, and mentions of everybody. */
const forSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Discord's flag of a message whose links show no preview. */
const suppressEmbeds = 4;
/** Discord reads Markdown, also a link behind other words: an exchange's message must not look like ours. */
const forDiscord = (text: string): string => text.replaceAll(/[\\*_~`|>[\]()#<@:-]/g, '\\$&').slice(0, 2_000);

/** The template with each value as the inside of a JSON string. */
const filled = (template: string, message: Outgoing): string =>
  template.replaceAll(/\{\{(text|level|time)\}\}/g, (_, name: keyof Outgoing) =>
    JSON.stringify(String(message[name])).slice(1, -1),
  );

function emailOf({ from, to }: Extract<ChannelConfig, { type: 'email' }>, secret: string): Send {
  const transport = createTransport(secret);
  return async ({ text, level }) => {
    const [first = ''] = text.split('\n');
    const deadline = cutOffAfter();
    try {
      const subject = `Sluice ${level}: ${first.slice(0, 120)}`;
      await transport.sendMail({ from, to: [...to], subject, text, signal: deadline.signal });
      return undefined;
    } catch (error) {
      return deadline.signal.aborted ? 'no answer in time' : codeOf(error);
    } finally {
      deadline.end();
    }
  };
}
