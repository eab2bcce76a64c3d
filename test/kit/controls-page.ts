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

const elsewhereLines = ({ expected, elsewhere, kills }: Control): readonly string[] => {
  const words = [...kills.map((kill) => `\`${kill}\`: ${killingLimits[kill]}.`), elsewhere].filter(
    (word) => word !== '',
  );
  return words.length === 0 ? [] : [`**${expected}.** ${words.join(' ')}`];
};

const killSection = `## Kill and watchdog

A kill acts at once and is durable. Strategies create no orders until you resume. Exits stay in force: stops, time exits and take-profits. All other resting orders are cancelled before any
other request that waits for weight. You can kill by

- \`sluice kill\`, for all strategies or \`--strategy ID\`, or the button of the dashboard;
- \`/kill\` by [Telegram](../how-to/alerts.md#5-talk-to-it-by-telegram), from a chat that you list;
- a file \`kill\` in the state directory, or \`kill-ID\` for one strategy, with the reason in its first line;
- the signal SIGUSR2 to the daemon.

\`sluice kill --everything\` and the files \`kill.everything\` and \`kill-ID.everything\` stop exits, too ([why](../decisions/0002-what-a-kill-lets-through.md)).
\`sluice pause\` and \`/pause\` stop entries alone, and \`sluice flatten\` and \`/flatten\` [close positions](../how-to/acting-by-hand.md).

Files \`pause\` and \`pause-ID\` pause: \`sluice pause\` writes one while a daemon starts, and \`sluice kill\` the other.
The daemon checks for these files every 50 ms and before it sends an order. It deletes a file once the kill is on disk. The file also works at the next start.

\`sluice watchdog --config FILE\` is a second process with its own key for the same account (\`SLUICE_WATCHDOG_API_KEY\`, \`SLUICE_WATCHDOG_API_SECRET\`). It needs a valid key to run. The daemon
writes \`heartbeat.json\` each second. The watchdog acts when

- the heartbeat is older than \`watchdog.afterMs\` (30 s), because the daemon died or its event loop hangs, or
- a file \`kill\` exists.

It then cancels every open order that has our mark or is in the journal, take-profits as well. A daemon that lives places those again. It repeats this until none is left or the daemon is back. It leaves orders of humans and a daemon that you
stopped alone. It writes its actions to \`watchdog.jsonl\`. The daemon reports them when it continues and keeps the file as \`watchdog.reported.jsonl\`.

To try the watchdog on the built-in exchange, give the account a second key (\`keys\` in [its file](simulator.md#markets)) and run \`kill -STOP\` on the daemon. The standard user, \`demo-key\`,
has no second key.
`;

export const controlsPage = (): string => `# Controls

This page lists the controls that a trading program should have, and how Sluice implements each. \`npm run docs\` makes it from \`src/risk/control-list.ts\`.

All rules judge every order when its strategy emits the signal, and again right before the order is sent. The first rule that denies is journalled with its numbers, and \`sluice
why\` shows it. Exits by a stop are exempt from rules that limit profit or loss ([why](../decisions/0002-what-a-kill-lets-through.md)).

## Rules

\`hard\`: fixed. \`soft\`: you can raise its number.

${markdownTable(['expected', 'rule', 'block', 'number'], controls.flatMap(ruleRows))}

## Other controls

${controls
  .flatMap(elsewhereLines)
  .map((line) => `- ${line}`)
  .join('\n')}

## Standard limits

The standard values apply where money is real: to \`live\` and \`paper\` on an exchange that is not on this machine. On an exchange on this machine and in a backtest, only the limits in
the configuration apply, because the money is simulated; \`risk.controls: all\` applies the others, too. \`risk.maxOrderValue\` and \`risk.maxPosition\`, in quote, are always required.

The configuration may set stricter limits. \`live\` refuses looser ones at the start with exit code 3 and prints the command that raises them:

    sluice limits raise maxOrderShare 0.05 --state var/live --reason "five per cent is what we agreed on"

The command asks you to type the limit's name (\`--yes\` for scripts) and adds a row to the journal. \`sluice limits\` lists all rows, with the SHA-256 of each configuration and strategy.

A new version of a strategy's code may use \`newVersionShare\` of its allocation until \`sluice limits release STRATEGY\`, which takes effect at once. \`risk.controls: stated\` removes all
standard values, also where money is real. It needs \`sluice limits raise controls stated\`.

${markdownTable(
  ['limit', 'standard', 'stricter is'],
  confirmed.map(({ key, value, careful }) => [
    `\`${key}\``,
    String(value),
    careful === 'only' ? 'no other value' : careful,
  ]),
)}

Equity is the sum of all allocations and profits, at the last prices. Rules about depth apply where depth is available. \`maxDepthShare\` concerns orders that would trade at once. The last
three limits are not order rules: the sweep interval, the horizon of lost orders, and the watchdog's wait. Entries and denials count over ten minutes of market time.

${killSection}`;
