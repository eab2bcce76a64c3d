/** Reads a configuration file: YAML, checked by a schema, every problem reported together with file, line and path. */
import { readFileSync } from 'node:fs';
import { isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { didYouMean, Refusal } from '../domain/refusal.ts';

/** One `--set path=value` of the command line. */
export interface Setting {
  readonly path: readonly (string | number)[];
  readonly value: string;
}

/** Parses `strategies.0.params.fast=12`. */
export function parseSetting(text: string): Setting {
  const cut = text.indexOf('=');
  if (cut < 1) throw new Refusal(`--set ${text}: must look like strategies.0.params.fast=12`);
  const path = text
    .slice(0, cut)
    .split('.')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return { path, value: text.slice(cut + 1) };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Refusal(
      `configuration ${file} ${code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`}: give one with --config FILE`,
    );
  }
}

type Document = ReturnType<typeof parseDocument>;

/** A file's content as the schema makes it, or a `Refusal` that lists every problem with its line. */
export function readConfig<S extends z.ZodType>(
  file: string,
  schema: S,
  settings: readonly Setting[] = [],
): z.output<S> {
  const lines = new LineCounter();
  const document = parseDocument(readText(file), { lineCounter: lines });
  if (document.errors.length > 0) {
    const problems = document.errors.map(
      (error) => `  line ${error.linePos?.[0].line ?? '?'}: ${error.message.split('\n')[0]}`,
    );
    throw new Refusal(`${file} is not valid YAML:\n${problems.join('\n')}`);
  }
  for (const setting of settings) applySetting(document, setting);
  const result = schema.safeParse(document.toJS() as unknown);
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => describe(issue, document, lines));
  throw new Refusal(
    `${file} has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.join('\n')}`,
  );
}

/** A value keeps the kind of what it replaces: text that stands in quotes stays text. */
function applySetting(document: Document, { path, value }: Setting): void {
  const before: unknown = document.getIn(path, true);
  const parsed: unknown = parseDocument(value).toJS();
  try {
    document.setIn(path, isScalar(before) && typeof before.value === 'string' ? value : parsed);
  } catch {
    throw new Refusal(`--set ${path.join('.')}=${value}: there is no such place in the configuration`);
  }
}

function describe(issue: z.core.$ZodIssue, document: Document, lines: LineCounter): string[] {
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(issue);
    return issue.keys.map(
      (key) =>
        `  ${where(document, lines, [...path, key])}${[...path, key].join('.')}: is not a known key${didYouMean(key, known)}`,
    );
  }
  const missing = issue.code === 'invalid_type' && document.getIn(path) === undefined;
  return [
    `  ${where(document, lines, path)}${path.join('.') || 'the file'}: ${missing ? 'is missing' : issue.message.replace(/^Invalid input: /, '')}`,
  ];
}

const knownKeys = (issue: z.core.$ZodIssueUnrecognizedKeys): readonly string[] => {
  const { inst } = issue as { inst?: { _zod?: { def?: { shape?: Readonly<Record<string, unknown>> } } } };
  return Object.keys(inst?._zod?.def?.shape ?? {});
};

/** The line of a place, or of the nearest thing around it that exists. */
function where(document: Document, lines: LineCounter, path: readonly (string | number)[]): string {
  for (let length = path.length; length > 0; length--) {
    const parent: unknown = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const key = path[length - 1];
    const pair = isMap(parent) ? parent.items.find((item) => isScalar(item.key) && item.key.value === key) : undefined;
    const node: unknown = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range != null) return `line ${lines.linePos(node.range[0]).line}: `;
  }
  return '';
}
