/** The page docs/reference/fault-plans.md, made of the rules' schema and of the plans themselves. */
import { stringify } from 'yaml';
import type { z } from 'zod';
import { actions } from '../../src/simulator/faults/actions.ts';
import { events } from '../../src/simulator/faults/events.ts';
import { type FaultPlan, plans } from '../../src/simulator/faults/plans.ts';
import { at, match } from '../../src/simulator/faults/rules.ts';

/** A list, because some keys need several sentences. */
const described = (shapes: Readonly<Record<string, z.ZodType>>): string =>
  Object.entries(shapes)
    .map(([name, { description }]) => {
      if (description === undefined) throw new Error(`${name} has no description: give its schema one`);
      return `- \`${name}\`: ${description}.`;
    })
    .join('\n');

function planText(name: string, plan: FaultPlan): string {
  const lines = plan.rules.map((rule) => {
    const parts = Object.entries(rule).map(([key, value]) => `${key}: ${flow(value)}`);
    return `- ${parts.join('\n  ')}`;
  });
  return `### \`${name}\`\n\n${plan.about}\n\n\`\`\`yaml\n${lines.join('\n')}\n\`\`\``;
}

/** In one line, as people write rules. */
const flow = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: true }).trimEnd();

export const faultPlansPage = (): string => `# Faults and named plans

<!-- Made by \`node scripts/fault-plans.ts\` of src/simulator/faults; change it there. -->

The built-in exchange injects faults. \`npx sluice simulator --faults NAME\` takes a plan from the end of this page, \`--faults FILE\` a file of rules (YAML). The [control
address](simulator.md#the-control-address) changes them during a run. In a test, \`startSimulator({ faults })\` takes either.

A rule with \`match\` applies to requests, or to frames before they are sent. The first matching rule decides, and each use is in the truth log. A rule with \`at\` triggers by time.
Random choices come from the seed, so a run can be repeated. An unknown key is refused with file and line. So are a file without rules and a rule about an unknown user, symbol or
path. The exchange prints the faults in force at its start.

\`\`\`yaml
- match: { method: POST, path: /sapi/v1/order, probability: 0.02 }
  do: { status: 504, when: after }
- at: { afterMs: 60000, everyMs: 600000 }
  do: { outage: all, forMs: 30000 }
\`\`\`

## match: which requests and frames

All given keys must match. Without keys, the rule matches every request.

${described(match.shape)}

## do, with match

Durations are real ms; the exchange's clock may run faster. Most actions take \`when: before\` or \`after\`: before or after the exchange executes the request.

${described(actions)}

## at: when an event happens

Times are ms of exchange time.

${described(at.shape)}

## do, with at

${described(events)}

## Plans

${Object.entries(plans)
  .map(([name, plan]) => planText(name, plan))
  .join('\n\n')}
`;
