/** The page `docs/reference/controls.md`, made of the list of controls in the code. */

import { blockOf, type Control, controls, standards } from '../../src/risk/control-list.ts';
import { killingLimits } from '../../src/risk/kill.ts';
import { confirmed } from '../../src/session/preflight/limits.ts';
import { markdownTable } from './markdown-table.ts';

const numberOf = (key: string): string => {
  if (key.startsWith('hard: ')) return key.slice('hard: '.length);
  const standard = standards.find((one) => one.key === key);
  if (standard === undefined) return key.startsWith('`') ? key : `\`risk.${key}\`, required`;
  return `\`risk.${key}\`, standard ${standard.value}`;
};

const ruleRows = ({ expected, rules }: Control): readonly (readonly string[])[] =>
  Object.entries(rules).map(([rule, key]) => [expected, `\`${rule}\``, blockOf(rule), numberOf(key)]);

const elsewhereRows = ({ expected, elsewhere, kills }: Control): readonly (readonly string[])[] => {
  const words = [...kills.map((kill) => `\`${kill}\`: ${killingLimits[kill]}.`), elsewhere].filter(
    (word) => word !== '',
  );
  return words.length === 0 ? [] : [[expected, words.join(' ')]];
};

export const controlsPage = (): string => `# Controls

Made of \`src/risk/control-list.ts\` by \`npm run docs\`. Which controls a trading program is expected to have, and what does each here.
Every order is judged by all rules when its strategy has said it, and again at the last hop before the socket; the first rule that
refuses is written down with its numbers, and \`sluice why\` shows it. Exits by a stop are exempt from rules that bound what may be
gained or lost ([why](../decisions/0002-what-a-kill-lets-through.md)).

## Rules

\`hard\`: nobody can lift it. \`soft\`: it refuses, too, but a human may raise its number.

${markdownTable(['expected', 'rule', 'block', 'number'], controls.flatMap(ruleRows))}

## Beside the rules

${markdownTable(['expected', 'what does it'], controls.flatMap(elsewhereRows))}

## Standard limits

The standard values hold where money is real: for \`live\` and \`paper\` on an exchange that is not on this machine. On one that is, as in
the demo, and in a backtest only those limits hold that the configuration states (\`risk.controls\`): simulated money is lost by nobody, and
results that were published stay what they are. \`risk.maxOrderValue\` and \`risk.maxPosition\`, in quote, are required everywhere.

More careful than the standard is a matter of the configuration alone. What stands less careful is refused at the start of \`live\`,
exit code 3, with what to type:

    sluice limits raise maxOrderShare 0.05 --state var/live --reason "five per cent is what we agreed on"

The step asks for the limit's name, typed (\`--yes\` for scripts), and is a row of the journal. \`sluice limits\` lists all of them, with each
configuration's SHA-256 and each strategy's. A version of a strategy that runs for the first time, told by the hash of its code, may
hold \`newVersionShare\` of its allocation until \`sluice limits release STRATEGY\`; that takes effect at once. \`risk.controls: stated\` takes all standard values away where real money is, too, and needs a step of its own:
\`sluice limits raise controls stated\`.

${markdownTable(
  ['limit', 'standard', 'more careful is'],
  confirmed.map(({ key, value, careful }) => [
    `\`${key}\``,
    String(value),
    careful === 'only' ? 'nothing else' : careful,
  ]),
)}

The equity is what the strategies were allotted together and what they earned, at the last prices. Rules about the book apply where
there is one; \`maxDepthShare\` is about orders that would trade at once. The last three are no rules of an order: how often the exchange is swept, after what time an order that no sweep finds can no longer
appear, and how long the watchdog waits. Entries and refusals are counted over ten minutes of the market.

## Kill and watchdog

A kill stops creation at once, is durable, and cancels what rests before anything else that waits for weight. It is asked for by

- \`sluice kill\`, of everything or \`--strategy ID\`, or the button of the dashboard;
- a file \`kill\` in the state directory, or \`kill-ID\` for one strategy; its first line is the reason. The file is looked at before every order
  leaves, and every 50 ms besides; once the kill is on disk it is taken away. It works at the next start, too;
- the signal SIGUSR2 to the daemon.

\`sluice watchdog --config FILE\` is a second process with a key of its own for the same account (\`SLUICE_WATCHDOG_API_KEY\`,
\`SLUICE_WATCHDOG_API_SECRET\`); without one, or with one that the exchange refuses, it does not run. The daemon touches \`heartbeat.json\` each second. When that stands still for
\`watchdog.afterMs\` (30 s), because the daemon died or its event loop hangs, or when the file \`kill\` is there, the watchdog cancels every open
order that bears our mark or that the journal knows, again and again until none is left or the daemon is back. Orders of a human stay. It
writes what it did to \`watchdog.jsonl\`, which the daemon tells of when it goes on (and keeps as \`watchdog.told.jsonl\`). A daemon that was stopped on purpose is left alone.

On the built-in exchange it can be tried with a second key of the account (\`keys\` in [its file](simulator.md#markets)) and \`kill -STOP\` of the daemon; the
exchange's one standard user, \`demo-key\`, has none.

A limit that kills lets exits by a stop go on; a kill by a person stops these, too.
`;
