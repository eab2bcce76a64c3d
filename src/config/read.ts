/** Reads a configuration file: YAML, checked by a schema, every problem reported together with file, line and path. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type Alias,
  Document,
  type ErrorCode,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { z } from 'zod';
import { isInterval, unknownInterval } from '../domain/interval.ts';
import { causeOf, didYouMean, plainly, Refusal } from '../domain/refusal.ts';
import { backtestSchema, tradingSchema } from './schema.ts';

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
    if (code === 'EISDIR') throw new Refusal(`configuration ${file} is a folder: give a file in it with --config FILE`);
    if (code === 'ENOENT') throw new Refusal(`configuration ${file} does not exist: give one with --config FILE`);
    throw new Refusal(`the configuration cannot be read: ${causeOf(error)}`);
  }
}

/** A file's content as the schema makes it, or a `Refusal` that lists every problem with its line. */
export function readConfig<S extends z.ZodType>(
  file: string,
  schema: S,
  settings: readonly Setting[] = [],
): z.output<S> {
  const lines = new LineCounter();
  const document = parseDocument(readText(file), { lineCounter: lines });
  const fault = yamlFault(document, lines);
  if (fault !== undefined) throw new Refusal(`${file}, line ${fault.line ?? '?'}: ${fault.what}`);
  const { contents } = document;
  const isEmpty = isAbsent(contents);
  if (!isEmpty && !isMap(contents))
    throw new Refusal(
      `${file}: must hold keys with their values (account: spot), not ${isSeq(contents) ? 'a list' : 'a single value'}`,
    );
  if (settings.length > 0) writeOut(document);
  for (const setting of settings) applySetting(document, setting);
  return checked(file, { document, lines, schema, settings }, isEmpty ? emptyText : undefined);
}

const emptyText = 'is empty; config/ in Sluice has files to begin with';

/** The same of a configuration that code gives, such as `backtest()`, which is named in messages; its values have no lines. */
export const checkGiven = <S extends z.ZodType>(name: string, given: unknown, schema: S): z.output<S> =>
  checked(name, { document: new Document(given), lines: new LineCounter(), schema, settings: [] });

/** Names its places. */
export const givenPlaces: NamePlace = (path) => path.join('.');

function checked<S extends z.ZodType>(
  name: string,
  given: Omit<Described, 'schema'> & { readonly schema: S },
  what?: string,
): z.output<S> {
  const result = parse(given.document, given.schema, given.settings);
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => describe(issue, given));
  throw problemsIn(name, problems, what);
}

interface YamlFault {
  readonly line: number | undefined;
  readonly what: string;
}

/** What the parser says, in words of a configuration. Its own text stays for errors that nobody makes by a slip. */
const yamlReasons: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_INDENT: 'the indentation does not fit the lines above, or a bracket is not closed: compare both',
  TAB_AS_INDENT: 'a tab indents this line: use spaces',
  MISSING_CHAR:
    'something is missing before this place: a quote or bracket that closes, or a space after a colon or comma',
  BLOCK_AS_IMPLICIT_KEY:
    'a second colon, an indented line below a value, or a bracket that is not closed: put a text with ": " in quotes, or check the lines above',
  BAD_SCALAR_START: 'a text that begins with this character must be in quotes',
  MULTILINE_IMPLICIT_KEY: 'a key reaches over several lines: a colon or a quote is missing above',
  UNEXPECTED_TOKEN: 'something that does not belong here: check the brackets, commas and quotes above',
  BAD_DQ_ESCAPE: 'an unknown escape in double quotes: use single quotes, or \\\\ for a backslash',
};

/** Why a text is not valid YAML for a configuration. Only the first reason: one extra bracket causes errors in everything after it. */
export function yamlFault(document: Document, lines: LineCounter): YamlFault | undefined {
  const [broken] = document.errors;
  if (broken !== undefined) {
    const line = broken.linePos?.[0].line;
    if (broken.code === 'DUPLICATE_KEY')
      return { line, what: `is not valid YAML: ${keyAt(document, broken.pos[0])} appears twice: keep one of them` };
    return broken.code === 'MULTIPLE_DOCS'
      ? { line, what: 'another document begins here (---): keep each configuration in a file of its own' }
      : { line, what: `is not valid YAML: ${yamlReasons[broken.code] ?? broken.message.split(/ at line|\n/)[0]}` };
  }
  const aliases: Alias[] = [];
  visit(document, { Alias: (_, alias) => void aliases.push(alias) });
  const lineOf = (alias: Alias | undefined): number | undefined =>
    alias?.range == null ? undefined : lines.linePos(alias.range[0]).line;
  const lost = aliases.find((alias) => alias.resolve(document) === undefined);
  if (lost !== undefined)
    return {
      line: lineOf(lost),
      what: `*${lost.source} stands for what &${lost.source} marks, and nothing above is marked so: write the value out, or in quotes ("*${lost.source}") where a text is meant`,
    };
  try {
    document.toJS();
    return undefined;
  } catch {
    // Aliases of aliases, which grow without end.
    return { line: lineOf(aliases.at(-1)), what: 'too many aliases (*) of aliases: write the values out' };
  }
}

/** The key that begins at an offset. */
function keyAt(document: Document, offset: number): string {
  let found = 'a key';
  visit(document, {
    Pair(_, { key }) {
      if (isScalar(key) && key.range?.[0] === offset) found = String(key.value);
    },
  });
  return found;
}

/** One refusal that lists every problem of a configuration file; each begins with its place. */
export function problemsIn(file: string, problems: readonly string[], what?: string): Refusal {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  return new Refusal([`${file} ${what ?? `has ${count}`}:`, ...problems.map((one) => `  ${one}`)].join('\n'));
}

/** Names a place of a configuration as its problems do: `line 7: strategies.0.use`, `--set strategies.0.use`. */
export type NamePlace = (path: readonly (string | number)[]) => string;

/** For what shows only once the schema is met, as that a strategy is not there. */
export function placesIn(file: string, settings: readonly Setting[]): NamePlace {
  const lines = new LineCounter();
  const document = parseDocument(readText(file), { lineCounter: lines });
  return (path) => place(path, { document, lines, settings });
}

/** Nothing at all, or nothing but comments and an explicit null. */
const isAbsent = (contents: unknown): boolean =>
  contents === null || (isScalar(contents) && (contents.value === null || contents.value === undefined));

/** A setting of a key that the file does not have was read as YAML; where the schema wants a text there, it is the text as typed. */
function parse<S extends z.ZodType>(
  document: Document,
  schema: S,
  settings: readonly Setting[],
): z.ZodSafeParseResult<z.output<S>> {
  // Read once, a schema takes longer to compile than to follow.
  const check = (): z.ZodSafeParseResult<z.output<S>> =>
    schema.safeParse((document.toJS() as unknown) ?? {}, { jitless: true });
  const result = check();
  if (result.success) return result;
  const asTyped = settings.filter(({ path }) =>
    result.error.issues.some(
      (issue) =>
        issue.code === 'invalid_type' && issue.expected === 'string' && issue.path.join('.') === path.join('.'),
    ),
  );
  for (const { path, value } of asTyped) document.setIn(path, value);
  return asTyped.length === 0 ? result : check();
}

/** What a setting says; the text as typed where it is no YAML by itself. */
function settingValue(text: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  return yamlFault(document, lines) === undefined ? document.toJS() : text;
}

/** Puts what aliases stand for in their places: a setting of one place is none of the others. */
function writeOut(document: Document): void {
  visit(document, {
    Alias(_, alias) {
      const copy = alias.resolve(document)?.clone() as Scalar | YAMLMap | YAMLSeq | undefined;
      if (copy !== undefined) delete copy.anchor;
      return copy;
    },
  });
}

/** A value keeps the kind of what it replaces: text that stands in quotes stays text. */
function applySetting(document: Document, { path, value }: Setting): void {
  const nowhere = (why: string): Refusal =>
    new Refusal(`--set ${path.join('.')}=${value}: there is no such place in the configuration${why}`);
  for (const [depth, key] of path.entries()) {
    const parent: unknown = depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true);
    if (isSeq(parent) && !(typeof key === 'number' && key < parent.items.length))
      throw nowhere(`: ${path.slice(0, depth).join('.')} has ${parent.items.length}, counted from 0`);
    if (isScalar(parent) && parent.value !== null)
      throw nowhere(`: ${path.slice(0, depth).join('.')} is a single value`);
  }
  const before: unknown = document.getIn(path, true);
  const isText = isScalar(before) && typeof before.value === 'string';
  document.setIn(path, document.createNode(isText ? value : settingValue(value)));
}

interface Described {
  readonly document: Document;
  readonly lines: LineCounter;
  readonly schema: z.ZodType;
  readonly settings: readonly Setting[];
}

function describe(issue: z.core.$ZodIssue, given: Described): string[] {
  const { document } = given;
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(given.schema, path);
    return issue.keys.map((key) =>
      problem(
        [...path, key],
        `is not a known key${elsewhere(key, path, given.schema) ?? didYouMean(key, known)}`,
        given,
      ),
    );
  }
  if (issue.code !== 'custom' && document.getIn(path) === undefined) return [problem(path, 'is missing', given)];
  if (issue.code === 'invalid_value') {
    const value = String(document.getIn(path));
    // All intervals are too many for a message.
    if (issue.values.every(isInterval)) return [problem(path, unknownInterval(value), given)];
    const known = issue.values.map(String);
    return [problem(path, `must be one of ${known.join(', ')}, not ${value}${didYouMean(value, known)}`, given)];
  }
  return [problem(path, asWritten(plainly(issue.message), document.getIn(path, true)), given)];
}

const commands = [
  { name: 'a backtest', schema: backtestSchema },
  { name: 'live or paper', schema: tradingSchema },
] as const;

/** Whose configuration has this key, where this one has not: a file for one command is soon given to another. */
function elsewhere(key: string, path: readonly (string | number)[], schema: z.ZodType): string | undefined {
  if (!commands.some((one) => one.schema === schema)) return undefined;
  const other = commands.find((one) => one.schema !== schema && keysAt(one.schema, path).includes(key));
  return other === undefined ? undefined : ` here: it belongs into the configuration of ${other.name}`;
}

const problem = (path: readonly (string | number)[], what: string, given: Described): string =>
  `${place(path, given)}: ${what}`;

function place(path: readonly (string | number)[], { document, lines, settings }: Omit<Described, 'schema'>): string {
  // A setting of the place, of something in it, or of what it is in.
  const setting = settings.find((one) => {
    const [outer, inner] = one.path.length < path.length ? [one.path, path] : [path, one.path];
    return outer.every((part, at) => inner[at] === part);
  });
  return `${setting === undefined ? where(document, lines, path) : '--set '}${path.join('.') || 'the file'}`;
}

/** A message that quotes a number quotes it as the file has it: the digits that were lost are what it is about. */
const asWritten = (message: string, node: unknown): string =>
  isScalar(node) && typeof node.value === 'number' && node.source !== undefined
    ? message.replace(`"${node.value}"`, `"${node.source}"`).replace(`'${node.value}'`, `'${node.source}'`)
    : message;

/** The keys that a schema knows at a place; none where it has no keys of its own. */
function keysAt(schema: z.core.$ZodType, path: readonly (string | number)[]): readonly string[] {
  const { def } = schema._zod;
  if (isKind<z.core.$ZodObjectDef>(def, 'object')) {
    const [key, ...rest] = path;
    if (key === undefined) return Object.keys(def.shape);
    const inner = def.shape[key];
    return inner === undefined ? [] : keysAt(inner, rest);
  }
  if (isKind<z.core.$ZodArrayDef>(def, 'array')) return keysAt(def.element, path.slice(1));
  if (isKind<z.core.$ZodRecordDef>(def, 'record')) return keysAt(def.valueType, path.slice(1));
  if (isKind<z.core.$ZodPipeDef>(def, 'pipe')) return keysAt(def.in, path);
  return 'innerType' in def ? keysAt(def.innerType as z.core.$ZodType, path) : [];
}

const isKind = <D extends z.core.$ZodTypeDef>(def: z.core.$ZodTypeDef, type: D['type']): def is D => def.type === type;

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

/** The folder of imported data. */
export const catalogueOf = (dir: string, { catalogue }: { readonly catalogue?: string | undefined }): string =>
  catalogue === undefined ? resolve('var', 'data') : resolve(dir, catalogue);
