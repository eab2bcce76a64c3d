/** The shapes of replies (`rules.ts`), by the replies that the other checks drew. */
import { type Check, Skip } from '../check.ts';
import { type RuleName, rules } from '../rules.ts';

export const shapeChecks: readonly Check[] = Object.entries(rules).map(
  ([name, rule]): Check => ({
    ...rule,
    silent: true,
    async run(at) {
      const why = at.rules.broken(name as RuleName);
      if (why !== undefined) throw new Error(why);
      if (!at.rules.applied(name as RuleName)) throw new Skip('no reply to the other checks shows it');
    },
  }),
);
