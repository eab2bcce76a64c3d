/** `docs/reference/metrics.md`, made from the definitions of the metrics. */
import { definitions } from '../../src/session/metrics/definitions.ts';
import { markdownTable } from './markdown-table.ts';

interface Known {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labels: readonly string[];
}

/** Every metric of a daemon, those of Node and the process too. */
export async function knownMetrics(): Promise<readonly Known[]> {
  const { registry, labels } = definitions();
  const found = (await registry.getMetricsAsJSON()).map(({ name, help, type }) => ({ name, help, type: String(type) }));
  return found.map(({ name, help, type }) => ({ name, help, type, labels: labels.get(name) ?? [] }));
}

export async function metricsPage(): Promise<string> {
  const metrics = await knownMetrics();
  const row = ({ name, type, labels, help }: Known): readonly string[] => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ];
  const ours = metrics.filter(({ name }) => name.startsWith('sluice_'));
  return `# Metrics

A daemon with \`metrics\` in its [configuration](configuration.md) answers three requests. \`npm run docs\` makes this page from \`src/session/metrics/definitions.ts\`.

\`\`\`yaml
metrics: {} # http://127.0.0.1:9464
\`\`\`

| request | 200 means | 503 means |
|---|---|---|
| \`/health\` | the event loop answers, and the journal can be written | the disk is full, or the state directory is gone |
| \`/ready\` | healthy, recovered, fresh prices, no kill or halt of everything, no ban | one of these fails |
| \`/metrics\` | the metrics below, in the text format of Prometheus | |

\`/health\` and \`/ready\` answer \`{"ok":false,"state":"killed","reasons":["killed"],"paused":[],"killed":["trend"]}\`.
A pause, or a kill of one strategy, is deliberate: \`/ready\` stays 200, and \`paused\` and \`killed\` name the strategies. A daemon that waits for its exchange is healthy, and not ready: its \`state\` is \`waiting\`. Restart one that does not answer
\`/health\`; one that answers 503 needs a person, because a restart makes no room on a disk.

- It listens on 127.0.0.1. With another \`metrics.host\`, \`/metrics\` needs a token of 22 characters or more: put it into \`SLUICE_METRICS_TOKEN\`, in the environment or \`.env\`, and into \`authorization\` of
  Prometheus. \`/health\` and \`/ready\` need none.
- Requests must call it by an IP address, \`localhost\` or one of \`metrics.names\`. Those with an \`Origin\` get 403: pages in browsers cannot read it.
- Values are calculated at most once a second. No value and no label has a text of an exchange or a key in it.

Names of strategies, symbols, rules and channels are the only labels, so their number stays small. Counters begin at 0 with each start. Times are real seconds.

## Of Sluice

${markdownTable(['metric', 'type', 'labels', 'meaning'], ours.map(row))}

## Of Node and the process

prom-client adds these. \`process_resident_memory_bytes\` is the memory.

${metrics
  .filter(({ name }) => !name.startsWith('sluice_'))
  .map(({ name }) => `- \`${name}\``)
  .join('\n')}
`;
}
