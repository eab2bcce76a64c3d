/** What the tidy rules look at: a file as text and as the syntax tree that vitest's own parser gives. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vitest/node';

/** The clone. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A node of the syntax tree (ESTree with TypeScript), by its offsets in the text. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Seen {
  readonly node: Node;
  readonly parent: Node | undefined;
}

export interface Import {
  readonly node: Node;
  /** As written. */
  readonly from: string;
  /** Nothing of it is left at run time. */
  readonly typeOnly: boolean;
  /** The names that are imported, `*` for all. */
  readonly names: readonly string[];
}

export interface Source {
  readonly path: string;
  readonly text: string;
  /** Every node, outer ones first. */
  readonly nodes: readonly Seen[];
  readonly imports: readonly Import[];
}

/** `file:line what is wrong and what to do instead`. */
export type Breach = string;

export interface Rule {
  /** Completes the sentence `the tree keeps: …`. */
  readonly name: string;
  check(source: Source): readonly Breach[];
  /** Path and text of files that must be found wrong: the proof that the rule can fail. */
  readonly planted: readonly (readonly [path: string, text: string])[];
  /** Path and text of files that look alike and are right. */
  readonly fine: readonly (readonly [path: string, text: string])[];
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' && 'start' in value;

/** The child of a node, where it is a single node. */
export function child(node: Node | undefined, field: string): Node | undefined {
  const value = node?.[field];
  return isNode(value) ? value : undefined;
}

export function children(node: Node | undefined, field: string): readonly Node[] {
  const value = node?.[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** A name that stands there as such: identifiers, private names and property names. */
export const nameOf = (node: Node | undefined): string | undefined =>
  (node?.type === 'Identifier' || node?.type === 'PrivateIdentifier') && typeof node['name'] === 'string'
    ? node['name']
    : undefined;

export const literalOf = (node: Node | undefined): unknown => (node?.type === 'Literal' ? node['value'] : undefined);

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

export const breach = ({ path, text }: Pick<Source, 'path' | 'text'>, at: number, what: string): Breach =>
  `${path}:${lineAt(text, at)} ${what}`;

function collect(node: Node, parent: Node | undefined, into: Seen[]): void {
  into.push({ node, parent });
  for (const value of Object.values(node)) {
    if (isNode(value)) collect(value, node, into);
    else if (Array.isArray(value)) for (const each of value) if (isNode(each)) collect(each, node, into);
  }
}

function importOf({ node }: Seen): Import | undefined {
  const isFrom = /^(ImportDeclaration|ExportNamedDeclaration|ExportAllDeclaration)$/.test(node.type);
  if (!isFrom && node.type !== 'ImportExpression' && node.type !== 'TSImportType') return undefined;
  const from = literalOf(child(node, 'source') ?? child(node, 'argument'));
  if (typeof from !== 'string') return undefined;
  const specifiers = children(node, 'specifiers');
  const isType = (one: Node): boolean => one['importKind'] === 'type' || one['exportKind'] === 'type';
  const names = specifiers.map((one) => nameOf(child(one, 'imported') ?? child(one, 'local')) ?? '');
  const whole = specifiers.length === 0 || specifiers.some(({ type }) => type === 'ImportNamespaceSpecifier');
  return {
    node,
    from,
    typeOnly:
      node.type === 'TSImportType' || isType(node) || (specifiers.length > 0 && specifiers.every((one) => isType(one))),
    names: whole ? ['*'] : names,
  };
}

/** Parses a file; throws where it is not TypeScript. */
export function sourceOf(path: string, text: string): Source {
  const nodes: Seen[] = [];
  if (/\.[jt]s$/.test(path)) {
    const program: unknown = parseAst(text.replace(/^#!/, '//'), { lang: path.endsWith('.ts') ? 'ts' : 'js' }, path);
    if (isNode(program)) collect(program, undefined, nodes);
  }
  return { path, text, nodes, imports: nodes.flatMap((seen) => importOf(seen) ?? []) };
}

const ignored = new Set(['node_modules', 'dist', 'var', 'coverage', '.git']);

/** Files of the tree below a folder, from the root, in order. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory()) return ignored.has(entry.name) ? [] : filesBelow(path);
      return entry.isFile() ? [path] : [];
    });
}

export const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The rules themselves quote what they refuse. */
export const isTidy = (path: string): boolean => /^test\/tidy(\/|\.test\.ts$)/.test(path);
export const isTest = (path: string): boolean =>
  /\.test\.ts$|(^|[/-])builders?\.ts$/.test(path) || /^test\//.test(path);

/** All code, parsed once. */
export const codeOfTree = (): readonly Source[] =>
  filesBelow('')
    .filter((path) => /^(bin|src|strategies|test|bench|scripts)\/.*\.(ts|js|css)$/.test(path))
    .map((path) => sourceOf(path, textOf(path)));
