/** `sluice simulator` as a process of its own: steered from its control address, its log judged by `simulator report`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { killLeftovers, sluice, startProgram } from './kit/program.ts';

const cwd = mkdtempSync(join(tmpdir(), 'sluice-simulator-'));
const surroundings = { cwd, env: { PATH: process.env['PATH'] ?? '' } };
afterAll(() => {
  killLeftovers();
  rmSync(cwd, { recursive: true, force: true });
});

const address = ['simulator', '--json', '--port', '0', '--scenario', 'synthetic'];

test('markets, faults, control address and log work together, and the report tells what a client did wrong', async () => {
  const program = startProgram(
    [...address, '--control', '0', '--log', 'truth.jsonl', '--faults', 'outage-5m'],
    surroundings,
  );
  const line = await program.line(/controlUrl/);
  const { restUrl, controlUrl } = JSON.parse(line) as { restUrl: string; controlUrl: string };
  expect(controlUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const depth = await fetch(`${restUrl}/sapi/v1/depth?symbol=ETHUSDT&levels=5`);
  expect(((await depth.json()) as { bids: unknown[] }).bids.length).toBeGreaterThan(10);

  // The plan takes the exchange away after a minute, which need not be waited for.
  await fetch(`${controlUrl}/time`, { method: 'POST', body: '{"advanceMs": 61000}' });
  await expect(fetch(`${restUrl}/sapi/v1/ping`)).rejects.toThrow();
  await fetch(`${controlUrl}/outage`, { method: 'DELETE' });
  expect((await fetch(`${restUrl}/sapi/v1/ping`)).status).toBe(200);
  expect(await program.end('SIGTERM')).toMatchObject({ code: 0 });

  const report = await sluice(['simulator', 'report', 'truth.jsonl'], surroundings);
  expect(report).toMatchObject({ code: 0, stderr: '' });
  expect(report.stdout).toContain('unknownParameter');
  const asJson = await sluice(['simulator', 'report', 'truth.jsonl', '--json'], surroundings);
  expect(JSON.parse(asJson.stdout)).toMatchObject({ requests: 2, findings: [{ wrong: 'unknownParameter', count: 1 }] });
});

test('no control address is open when none was asked for', async () => {
  const program = startProgram([...address, '--persist', 'other'], surroundings);
  expect(JSON.parse(await program.line(/restUrl/))).not.toHaveProperty('controlUrl');
  await program.end('SIGTERM');
});
