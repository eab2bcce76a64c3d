/** Rules about the tree as a whole: packages, compiler options, secrets, strategy folders. */
import { z } from 'zod';
import { type Breach, breach, type Rule } from './source.ts';

const groups = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;
const versions = z.record(z.string(), z.string()).optional();
const packageJson = z.looseObject({
  dependencies: versions,
  devDependencies: versions,
  optionalDependencies: versions,
});

export const pinnedRule: Rule = {
  name: 'package.json pins exact versions',
  check(source) {
    const pack = packageJson.parse(JSON.parse(source.text));
    return groups.flatMap((group) =>
      Object.entries(pack[group] ?? {})
        .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        .map(([name, version]) =>
          breach(source, source.text.indexOf(`"${name}"`), `${name} is "${version}": pin one exact version`),
        ),
    );
  },
  planted: [
    ['package.json', '{ "dependencies": { "rxjs": "^7.8.2" } }'],
    ['package.json', '{ "devDependencies": { "vitest": "latest" } }'],
    ['package.json', '{ "optionalDependencies": { "a": "git+https://example.org/a.git" } }'],
  ],
  fine: [['package.json', '{ "dependencies": { "rxjs": "7.8.2", "b": "1.0.0-beta.2" } }']],
};

/** Packages that run a script of their own when they are installed; there are none. */
const scriptsAllowed: readonly string[] = [];
const lockfile = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({
      resolved: z.string().optional(),
      integrity: z.string().optional(),
      link: z.boolean().optional(),
      optional: z.boolean().optional(),
      os: z.unknown().optional(),
      hasInstallScript: z.boolean().optional(),
    }),
  ),
});

export const lockRule: Rule = {
  name: 'the lockfile names no host and runs no install script',
  check(source) {
    const { packages } = lockfile.parse(JSON.parse(source.text));
    return Object.entries(packages).flatMap(([path, pack]): Breach[] => {
      const name = path.replace(/^.*node_modules\//, '');
      const at = source.text.indexOf(`"${path}"`);
      const faults: string[] = [];
      // The clone's own folders are linked, and have no hash.
      const isOurs = pack.link === true || !path.includes('node_modules/');
      if (pack.resolved !== undefined && !isOurs)
        faults.push(
          `${name} names where it comes from: npm config set omit-lockfile-registry-resolved true, npm install`,
        );
      if (pack.hasInstallScript === true && !scriptsAllowed.includes(name))
        faults.push(
          `${name} runs a script when it is installed: choose another package, or list it in test/tidy/tree.ts`,
        );
      // Binaries of platforms that scripts/lock-platforms.ts added: nobody here has seen them.
      const unseen = pack.optional === true && pack.os !== undefined;
      if (!isOurs && pack.integrity === undefined && !unseen)
        faults.push(`${name} has no integrity hash: npm install it again`);
      return faults.map((fault) => breach(source, at, fault));
    });
  },
  planted: [
    [
      'package-lock.json',
      '{ "packages": { "node_modules/a": { "integrity": "x", "resolved": "https://r.example/a.tgz" } } }',
    ],
    ['package-lock.json', '{ "packages": { "node_modules/a": { "integrity": "x", "hasInstallScript": true } } }'],
    ['package-lock.json', '{ "packages": { "node_modules/a": {} } }'],
  ],
  fine: [
    ['package-lock.json', '{ "packages": { "": {}, "node_modules/a": { "integrity": "sha512-x" } } }'],
    ['package-lock.json', '{ "packages": { "node_modules/a-darwin": { "optional": true, "os": ["darwin"] } } }'],
  ],
};

const strict = [
  ...['strict', 'noUncheckedIndexedAccess', 'exactOptionalPropertyTypes', 'noImplicitOverride', 'noImplicitReturns'],
  ...['noFallthroughCasesInSwitch', 'noPropertyAccessFromIndexSignature', 'noUnusedLocals', 'noUnusedParameters'],
  ...['erasableSyntaxOnly', 'verbatimModuleSyntax', 'isolatedModules', 'allowImportingTsExtensions'],
];
const tsconfig = z.looseObject({ extends: z.string().optional(), compilerOptions: z.record(z.string(), z.unknown()) });

export const compilerRule: Rule = {
  name: 'the compiler options stay strict',
  check(source) {
    const { extends: base, compilerOptions } = tsconfig.parse(JSON.parse(source.text));
    return strict
      .filter((option) => (base === undefined || option in compilerOptions) && compilerOptions[option] !== true)
      .map((option) => breach(source, 0, `${option} is off: Node runs the sources as they are, so it must stay true`));
  },
  planted: [
    ['tsconfig.json', '{ "compilerOptions": { "strict": true } }'],
    [
      'src/dashboard/page/tsconfig.json',
      '{ "extends": "../x.json", "compilerOptions": { "erasableSyntaxOnly": false } }',
    ],
  ],
  fine: [
    ['src/dashboard/page/tsconfig.json', '{ "extends": "../../../tsconfig.json", "compilerOptions": { "types": [] } }'],
  ],
};

// Written in pieces, so that this file does not find itself.
const leaks: readonly (readonly [RegExp, string])[] = [
  [/(?<![\w.])\/(work|home|root|Users)\/\w+/g, 'a path of one machine: make it relative to the repository'],
  [
    /\b(registry\.[\w.-]+\.(org|com|net|io|dev)|[\w.-]*(artifactory|verdaccio|npmmirror|jfrog)[\w.-]*)\b/gi,
    'the host of a package registry: leave it to the user’s npm',
  ],
  [/_authToken|\bnpm_[A-Za-z0-9]{36}\b/g, 'a token of npm: revoke it and remove it'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----/g, 'a private key: revoke it and remove it'],
  [
    /\b(AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|xox[abpr]-[\w-]{10,}|sk-[A-Za-z0-9_-]{24,})\b/g,
    'a key of some service: revoke it and remove it',
  ],
  [/\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g, 'a signed token: revoke it and remove it'],
  [
    /(secret|password|token|api_?key)\w*['"]?\s*[:=]\s*['"`][A-Za-z0-9+/=_]{32,}['"`]/gi,
    'what looks like a secret: take it from the environment',
  ],
];

/** Where one of them is meant to stand, and why. */
const known: Readonly<Record<string, { readonly what: RegExp; readonly because: string }>> = {
  'src/venue/exchange/rest/http-client.test.ts': {
    what: /PRIVATE KEY/,
    because: 'of a TLS server on loopback, for that test alone',
  },
};

export const leakRule: Rule = {
  name: 'nothing names a machine, a registry or a secret',
  check: (source) =>
    leaks.flatMap(([pattern, what]) =>
      [...source.text.matchAll(pattern)]
        .filter(([found]) => known[source.path]?.what.test(found) !== true)
        .map((found) => breach(source, found.index, `'${found[0].slice(0, 24)}' is ${what}`)),
    ),
  planted: [
    ['docs/a.md', ['see /wo', 'rk/main/src'].join('')],
    ['package-lock.json', ['"https://regis', 'try.npmjs.org/a"'].join('')],
    ['.npmrc', ['//host/:_auth', 'Token=abc'].join('')],
    ['key.pem', ['-----BEGIN RSA PRIV', 'ATE KEY-----'].join('')],
    ['src/a.ts', ['AKIA', 'ABCDEFGHIJKLMNOP'].join('')],
    ['src/a.ts', ["const apiSecret = '", 'a1B2c3D4'.repeat(5), "';"].join('')],
    ['.env', ['eyJhbGciOiJIUzI1', 'NiJ9.eyJzdWIiOiIxMjM0NTY3.c2lnbmF0dXJlLW9m'].join('')],
  ],
  fine: [['docs/a.md', 'The framework/paths are relative; apiSecret is read from SLUICE_API_SECRET.']],
};

/** Every shipped strategy has its code, its test and its half page. */
export function strategyFaults(paths: readonly string[]): Breach[] {
  const folders = new Set(paths.flatMap((path) => /^strategies\/([^/]+)\//.exec(path)?.[1] ?? []));
  return [...folders].flatMap((name) => {
    const has = (file: RegExp): boolean =>
      paths.some(
        (path) => file.test(path.slice(`strategies/${name}/`.length)) && path.startsWith(`strategies/${name}/`),
      );
    const missing = [
      ...(has(/^index\.ts$/) ? [] : ['index.ts with the strategy as its default export']),
      ...(has(/\.test\.ts$/) ? [] : ['a test (index.test.ts)']),
      ...(has(/^README\.md$/) ? [] : ['a README.md of half a page']),
    ];
    return missing.map((what) => `strategies/${name}:1 lacks ${what}`);
  });
}
