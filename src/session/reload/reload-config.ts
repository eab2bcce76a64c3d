/**
 * `sluice reload`, and SIGHUP: a running daemon reads its configuration again. Limits change while it runs: tighter ones at once, looser ones once somebody
 * confirms them. So do alerts and the log. Everything else needs a restart: then nothing changes.
 */

import { isDeepStrictEqual } from 'node:util';
import type { AlertSecrets } from '../../alerts/secrets.ts';
import type { Clock } from '../../clock/clock.ts';
import { configHash } from '../../config/hash.ts';
import type { TradingConfig } from '../../config/schema.ts';
import type { Asked } from '../../domain/operator-actions.ts';
import { causeOf, Refusal } from '../../domain/refusal.ts';
import { oneLine } from '../../domain/stated-reason.ts';
import type { Notice } from '../../journal/entries.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Risk } from '../../risk/risk.ts';
import type { Configured } from '../../trading/strategies.ts';
import { isStrict, limitsOf, refuseUnraised } from '../preflight/limits.ts';
import { inJournal } from '../state.ts';
import { changedConfig, commandChannels, type LimitChange } from './changed-config.ts';

/** A configuration with the secrets of its alerts. */
export interface ReadConfig {
  readonly config: TradingConfig;
  /** Left out where no alerts are configured. */
  readonly alertSecrets?: AlertSecrets | undefined;
}

export interface ConfigReloadParts extends ReadConfig {
  readonly mode: string;
  /** Its strategies; each names the file. */
  readonly configured: readonly Pick<Configured, 'configFile'>[];
  /** Reads and checks the configuration again; a `Refusal` says all that is wrong with it. Left out where there is no file, as in the demo. */
  readonly reread?: (() => ReadConfig) | undefined;
  /** Changes what follows the configuration beside the limits. It cannot fail. */
  readonly follow: (next: ReadConfig) => void;
  readonly risk: Pick<Risk, 'changeLimits'>;
  readonly journal: Pick<Journal, 'append'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly notice: (notice: Notice) => void;
  readonly stateDir: string;
}

export interface ConfigReloadRequest extends Asked {
  /** Somebody confirms that limits may be looser. */
  readonly loosen: boolean;
}

/** Returns the reload. It gives what was changed, in a sentence, or throws a `Refusal`; then all is as before. */
export function configReload(parts: ConfigReloadParts): (request: ConfigReloadRequest) => string {
  const { notice } = parts;
  let running: ReadConfig = parts;
  return (request) => {
    try {
      const next = read(parts, running, request);
      const text = apply(parts, running, next, request);
      running = next;
      notice({ level: 'info', text });
      return text;
    } catch (error) {
      if (error instanceof Refusal)
        notice({
          level: 'warn',
          text: `the configuration was not reloaded, the running one goes on: ${oneLine(causeOf(error))}`,
        });
      throw error;
    }
  };
}

/** Reads the configuration, and refuses what must not come into force. */
function read(
  { reread, mode, stateDir }: ConfigReloadParts,
  running: ReadConfig,
  { loosen }: ConfigReloadRequest,
): ReadConfig {
  if (reread === undefined) throw new Refusal(`${mode} has no configuration file to reload`);
  const next = reread();
  const { limits, fixed: places } = changedConfig(running.config, next.config);
  const tokenOf = ({ alertSecrets }: ReadConfig, name: string): string | undefined => alertSecrets?.channels.get(name);
  const bots = commandChannels(running.config).filter((name) => tokenOf(running, name) !== tokenOf(next, name));
  const fixed = [...new Set([...places, ...bots.map((name) => `the token of ${name}`)])];
  if (fixed.length > 0)
    throw new Refusal(
      `only a restart can change ${fixed.join(', ')}: restart the daemon, or take that back and reload again`,
    );
  const looser = limits.filter(({ isLooser }) => isLooser);
  if (looser.length > 0 && !loosen)
    throw new Refusal(
      `${looser.length === 1 ? 'a limit would be' : `${looser.length} limits would be`} looser (${looser.map(changeText).join(', ')}). To confirm: sluice reload --loosen --state ${stateDir} --reason "…"`,
      3,
    );
  if (mode !== 'paper')
    refuseUnraised(
      next.config,
      inJournal(stateDir, (reader) => reader.limits()),
      stateDir,
    );
  return next;
}

const changeText = ({ path, text }: LimitChange): string => `${path} ${text}`;

function apply(
  { configured, risk, journal, clock, follow }: ConfigReloadParts,
  running: ReadConfig,
  next: ReadConfig,
  { by, reason }: ConfigReloadRequest,
): string {
  const configFile = configured[0]?.configFile ?? '';
  const { config } = next;
  const { limits, others } = changedConfig(running.config, config);
  const hasNewSecrets = !isDeepStrictEqual(running.alertSecrets, next.alertSecrets);
  const changed = [...limits.map(changeText), ...others, ...(hasNewSecrets ? ['secrets of alerts'] : [])];
  if (changed.length === 0) return `${configFile} was read again: nothing in it has changed.`;
  const text = changed.join(', ');
  risk.changeLimits(limitsOf(config.risk, config.strategies, isStrict(config)));
  follow(next);
  const row = { kind: 'limit', at: clock.now(), what: 'config', name: configFile, value: configHash(config) } as const;
  journal.append({ ...row, by, reason: `${text} (${reason})` });
  return `${configFile} was reloaded by ${by}, in force now: ${text}.`;
}
