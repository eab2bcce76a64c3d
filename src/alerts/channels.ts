/** How each kind of channel sends a text. In: its configuration and its one secret. Out: an error text, or undefined once it was taken. */
import got, { HTTPError, type OptionsInit } from 'got';
import { createTransport } from 'nodemailer';
import type { ChannelConfig } from '../config/alerts.ts';
import type { AlertLevel } from './routes.ts';

export interface Outgoing {
  readonly level: AlertLevel;
  /** Of the newest alert in it, by the exchange's clock, UTC ms. */
  readonly time: number;
  readonly text: string;
}

/** Sends within `sendMs`; returns why it failed. It throws nothing. */
export type Send = (message: Outgoing) => Promise<string | undefined>;

/** A channel that takes longer is hanging, real ms. */
const sendMs = 10_000;
/** Longest text that every channel takes, characters (Discord: 2000). */
export const mostCharacters = 1_900;

const priorities: Readonly<Record<AlertLevel, string>> = { info: '2', warn: '4', error: '5' };

/** `secret`: the address with its token, or the token of a Telegram bot. */
export function channelOf(config: ChannelConfig, secret: string): Send {
  switch (config.type) {
    case 'telegram': {
      const { server, chat } = config;
      return ({ text }) => post(`${server}/bot${secret}/sendMessage`, { json: { chat_id: chat, text } });
    }
    case 'slack':
      return ({ text }) => post(secret, { json: { text: withoutMarkup(text) } });
    case 'discord':
      return ({ text }) => post(secret, { json: { content: text, allowed_mentions: { parse: [] } } });
    case 'ntfy':
      return ({ text, level }) =>
        post(secret, { body: text, headers: { title: 'Sluice', priority: priorities[level] } });
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

/** Slack reads &, < and > as markup: links, and mentions of everybody. */
const withoutMarkup = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The template with each value as the inside of a JSON string. */
const filled = (template: string, message: Outgoing): string =>
  template.replaceAll(/\{\{(text|level|time)\}\}/g, (_, name: keyof Outgoing) =>
    JSON.stringify(String(message[name])).slice(1, -1),
  );

async function post(url: string, what: OptionsInit): Promise<string | undefined> {
  try {
    // A redirect could carry the text and a token elsewhere.
    const options = { ...what, timeout: { request: sendMs }, retry: { limit: 0 }, followRedirect: false } as const;
    const { statusCode } = (await got.post(url, options)) as { readonly statusCode: number };
    return statusCode < 300 ? undefined : `HTTP ${statusCode}`;
  } catch (error) {
    return error instanceof HTTPError ? `HTTP ${error.response.statusCode}` : codeOf(error);
  }
}

/** The message of an error may contain the address, which is a secret. */
const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code ?? 'no answer');

function emailOf({ from, to }: Extract<ChannelConfig, { type: 'email' }>, secret: string): Send {
  const transport = createTransport(secret, {
    connectionTimeout: sendMs,
    greetingTimeout: sendMs,
    socketTimeout: sendMs,
  } as object);
  return async ({ text, level }) => {
    const [first = ''] = text.split('\n');
    try {
      const subject = `Sluice ${level}: ${first.slice(0, 120)}`;
      await transport.sendMail({ from, to: [...to], subject, text });
      return undefined;
    } catch (error) {
      return codeOf(error);
    }
  };
}
