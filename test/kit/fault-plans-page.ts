/** The page docs/reference/fault-plans.md, made of the rules' schema and of the plans themselves. */
import { stringify } from 'yaml';
import type { z } from 'zod';
import { actions } from '../../src/simulator/faults/actions.ts';
import { events } from '../../src/simulator/faults/events.ts';
import { type FaultPlan, plans } from '../../src/simulator/faults/plans.ts';
import { at, match } from '../../src/simulator/faults/rules.ts';
import { markdownTable } from './markdown-table.ts';

const described = (shapes: Readonly<Record<string, z.ZodType>>): string[][] =>
  Object.entries(shapes).map(([name, { description }]) => {
    if (description === undefined) throw new Error(`${name} has no description: give its schema one`);
    return [`\`${name}\``, description];
  });

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

The built-in exchange can have a bad day on order: \`npx sluice simulator --faults NAME\` takes a plan from the end of this page,
\`--faults FILE\` a file of rules (YAML), and the [control address](simulator.md) changes them while it runs. In a test,
\`startSimulator({ faults })\` takes either as it is written here.

A rule with \`match\` hits requests, or frames that are about to be pushed; of all rules the first that fires decides, and
every firing is in the truth log. A rule with \`at\` happens by itself. Chances are drawn from the seed, so a run can be repeated. A key
that there is not is refused with file and line, and so are a file without rules and a rule about a user, symbol or path that this exchange does
not have. The start says which faults are in force.

\`\`\`yaml
- match: { method: POST, path: /sapi/v1/order, probability: 0.02 }
  do: { status: 504, when: after }
- at: { afterMs: 60000, everyMs: 600000 }
  do: { outage: all, forMs: 30000 }
\`\`\`

## match: which requests and frames

All that is said must hold; nothing said means every request.

${markdownTable(['key', 'meaning'], described(match.shape))}

## do, with match

Durations here are real ms; a fast clock stretches them. Most take \`when: before\` or \`after\`: whether the exchange has carried the request
out when it happens.

${markdownTable(['key', 'what happens'], described(actions))}

## at: when it happens by itself

In ms of exchange time.

${markdownTable(['key', 'meaning'], described(at.shape))}

## do, with at

${markdownTable(['key', 'what happens'], described(events))}

## Plans

${Object.entries(plans)
  .map(([name, plan]) => planText(name, plan))
  .join('\n\n')}
`;
