/** The request-weight limits that a session shares with all processes of its user, and the message if they delay its start. */
import { type Budget, budget } from '../../budget/budget.ts';
import { sharedFile, sharedFilePath, userOf } from '../../budget/shared-file.ts';
import type { Clock } from '../../clock/clock.ts';
import type { SessionOptions } from '../options.ts';
import { durationText } from '../summary/summary-text.ts';

/** Opens them, and prints a ban that delays the start. */
export function sharedLimits(
  options: Pick<SessionOptions, 'config' | 'secrets' | 'environment' | 'log' | 'say'>,
  clock: Clock,
): Budget {
  const { config, secrets, environment, log, say } = options;
  const url = config.exchange.restUrl;
  const troubles: string[] = [];
  const shared = sharedFile({
    path: sharedFilePath(environment),
    address: new URL(url).host,
    clock,
    warn(facts, message) {
      log.warn(facts, message);
      troubles.push(message);
    },
  });
  const limits = budget({ clock, shared, user: userOf(secrets?.apiKey), ...config.budget });
  const { stoppedUntil, slowedUntil } = limits.meter();
  const until = stoppedUntil ?? slowedUntil;
  for (const trouble of troubles.splice(0)) say(trouble);
  if (until !== undefined) {
    // Not until when: before the exchange's time is known, this clock may be wrong, and it may run faster than the machine's.
    const leftMs = (until - clock.now()) / clock.machine(1);
    const left = leftMs < 120_000 ? `${Math.ceil(leftMs / 1_000)} s` : durationText(leftMs);
    say(`requests to ${url} wait for ${left}, and so does the start`);
  }
  return limits;
}
