import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { knownMetrics, metricsPage } from '../kit/metrics-page.ts';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the page of the metrics is that of the definitions', async () => {
  expect(textOf('docs/reference/metrics.md')).toBe(await metricsPage());
});

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const { panels } = JSON.parse(textOf('deploy/docker/grafana/dashboards/sluice.json')) as { panels: readonly Panel[] };

test('every metric of the Grafana board exists, with the labels that it is shown by', async () => {
  const known = new Map((await knownMetrics()).map(({ name, labels }) => [name, labels]));
  const metricOf = (name: string) => known.get(name) ?? known.get(name.replace(/_(bucket|sum|count)$/, ''));
  for (const { title, targets } of panels)
    for (const { expr, legendFormat } of targets) {
      const names = [...expr.matchAll(/\b(?:sluice|nodejs|process)_\w+/g)].map(([name]) => name);
      expect(names.length, title).toBeGreaterThan(0);
      for (const name of names) expect([title, name, metricOf(name) === undefined]).toEqual([title, name, false]);
      const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
      for (const label of labels) expect(metricOf(names[0] ?? ''), `${title}: ${label}`).toContain(label);
    }
  expect(panels.length).toBeGreaterThan(20);
});

test('every metric of Sluice is on the board', async () => {
  const shown = JSON.stringify(panels);
  const ours = (await knownMetrics()).map(({ name }) => name).filter((name) => name.startsWith('sluice_'));
  expect(ours.filter((name) => !shown.includes(name))).toEqual([]);
});
