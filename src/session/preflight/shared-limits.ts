/** The request-weight limits that a session shares with all processes of its user, and the message if they delay its start. */
import { type Budget, budget } from '../../budget/budget.ts';
import { sharedFile, sharedFilePath, userOf } from '../../budget/shared-file.ts';
import type { Clock } from '../../clock/clock.ts';
import { leftText } from '../../domain/words.ts';
import type { SessionOptions } from '../options.ts';

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
  const limits = budget({ clock, shared, user: userOf(secrets?.apiKey), ...config.requestWeight });
  const { stoppedUntil, slowedUntil } = limits.meter();
  const until = stoppedUntil ?? slowedUntil;
  for (const trouble of troubles.splice(0)) say(trouble);
  if (until !== undefined) {
    const left = leftText((until - clock.now()) / clock.machine(1));
    say(`requests to ${url} wait for ${left}, and so does the start`);
  }
  return limits;
}
