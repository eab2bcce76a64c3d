/** `sluice simulator report`: a client's mistakes, from a truth log. */

import { createReadStream, existsSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Refusal } from '../../domain/refusal.ts';
import { counted } from '../../domain/words.ts';
import { type LogEntry, type Report, Reporter, wrongs } from '../../simulator/simulator.ts';
import { textTable } from '../../terminal/table.ts';

export interface ReportOptions {
  readonly json: boolean;
  readonly out: (line: string) => void;
}

export async function showReport(file: string, { json, out }: ReportOptions): Promise<void> {
  const report = await read(file);
  if (json) {
    out(JSON.stringify(report));
    return;
  }
  const { requests, orders, fills, faults, bans, peakWeight, findings, from, to } = report;
  out(
    `${counted(requests, 'request')}, ${counted(orders, 'order')}, ${counted(fills, 'fill')}, ${counted(faults, 'injected fault')}, ${counted(bans, 'ban')}, ${momentText(from)} to ${momentText(to)}`,
  );
  for (const [ip, peak] of Object.entries(peakWeight.ip)) out(`most weight in a minute from ${ip}: ${peak}`);
  for (const [uid, peak] of Object.entries(peakWeight.uid)) out(`most weight in a minute of user ${uid}: ${peak}`);
  if (findings.length === 0) {
    out('no mistakes found');
    return;
  }
  const rows = findings.map(({ mistake: wrong, who, count, first, example }) => [
    wrong,
    who,
    String(count),
    momentText(first),
    example,
    wrongs[wrong],
  ]);
  out(textTable(['wrong', 'who', 'times', 'first', 'for example', 'what it is'], rows));
}

const momentText = (at: number): string => (Number.isNaN(at) ? 'never' : new Date(at).toISOString());

async function read(file: string): Promise<Report> {
  if (!existsSync(file)) throw new Refusal(`${file} does not exist; sluice simulator --log FILE writes one`);
  if (statSync(file).isDirectory())
    throw new Refusal(`${file} is a folder: give the file that sluice simulator --log FILE wrote`);
  const judge = new Reporter();
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(file) })) {
    line++;
    if (text !== '') judge.take(entryOf(text, `${file}, line ${line}`));
  }
  return judge.report();
}

function entryOf(text: string, place: string): LogEntry {
  let entry: unknown;
  try {
    entry = JSON.parse(text);
  } catch {
    throw new Refusal(`${place}: is not JSON; the log of sluice simulator --log FILE has an entry in each line`);
  }
  if (typeof entry !== 'object' || entry === null || !('kind' in entry) || !('at' in entry))
    throw new Refusal(`${place}: is not an entry of a truth log`);
  return entry as LogEntry;
}
