/** A sender of alerts with its outbox in a folder of its own, and what it sent. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outgoing, Send } from '../../src/alerts/channels.ts';
import { Outbox } from '../../src/alerts/outbox.ts';
import type { Alert } from '../../src/alerts/routes.ts';
import { Sender } from '../../src/alerts/sender.ts';
import { alerts as schema } from '../../src/config/alerts.ts';

export const minute = 60_000;
export const channels = { phone: { type: 'ntfy' }, team: { type: 'slack' } };

export class SenderRig {
  readonly dir = mkdtempSync(join(tmpdir(), 'sluice-alerts-'));
  outbox = new Outbox(this.dir);
  /** UTC ms. */
  now = Date.UTC(2026, 0, 5, 12);
  readonly sent: (Outgoing & { readonly channel: string })[] = [];
  /** Why a channel fails, by its name. */
  failing: Record<string, string | undefined> = {};

  close(): void {
    this.outbox.close();
    rmSync(this.dir, { recursive: true });
  }

  alert(text: string, given: Partial<Alert> = {}): Alert {
    return { kind: 'notice', level: 'error', time: this.now, text, ...given };
  }

  /** What a channel sends, unless it fails. */
  sendOn(channel: string): Send {
    return async (message) => {
      const failure = this.failing[channel];
      if (failure === undefined) this.sent.push({ channel, ...message });
      return failure;
    };
  }

  sender(given: object = {}, senders: Readonly<Record<string, Send>> = {}): Sender {
    return new Sender({
      config: schema.parse({ channels, routes: [{ minLevel: 'info', to: ['phone'] }], ...given }),
      channels: new Map(Object.keys(channels).map((name) => [name, senders[name] ?? this.sendOn(name)])),
      ...{ outbox: this.outbox, now: () => this.now },
    });
  }

  texts(channel = 'phone'): readonly string[] {
    return this.sent.filter((one) => one.channel === channel).map(({ text }) => text);
  }
}
