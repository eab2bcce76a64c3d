/**
 * Completes package-lock.json after `npm install`: npm leaves out the binaries for platforms that its registry could not give it,
 * and `npm ci` then refuses the lockfile on every platform ("Missing: … from lock file", seen with npm 11.19). What is added
 * has a version and a platform but no integrity hash, since nobody here has seen the file.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

const file = new URL('../package-lock.json', import.meta.url);
const wholeLock = z.record(z.string(), z.unknown());
const wantedBy = z.looseObject({
  dev: z.boolean().optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
});

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const processors = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64'];

/** What a name such as `@oxlint/binding-linux-arm64-musl` says about where the package runs; undefined when it says nothing. */
function platformOf(name: string): { cpu: string[]; libc?: string[]; os: string[] } | undefined {
  const words = name.split(/[/-]/);
  const system = systems.find((word) => words.includes(word));
  const processor = processors.find((word) => words.includes(word));
  if (system === undefined || processor === undefined) return undefined;
  const musl = words.includes('musl') ? { libc: ['musl'] } : {};
  return { cpu: [processor], ...musl, os: [system] };
}

const lock = wholeLock.parse(JSON.parse(readFileSync(file, 'utf8')));
const packages = wholeLock.parse(lock['packages']);
const added: string[] = [];
for (const [path, entry] of Object.entries(packages)) {
  const { dev, optionalDependencies = {} } = wantedBy.parse(entry);
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const platform = platformOf(name);
    const at = `node_modules/${name}`;
    if (path === '' || platform === undefined || packages[at] !== undefined) continue;
    const { cpu, os, ...libc } = platform;
    packages[at] = { version, cpu, ...(dev === true && { dev }), ...libc, optional: true, os };
    added.push(`${name}@${version}`);
  }
}
// In npm's own order, so that the next npm install changes nothing.
const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
if (added.length > 0)
  writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, undefined, 2)}\n`);
process.stdout.write(`${added.length} platforms added${added.map((one) => `\n  ${one}`).join('')}\n`);
