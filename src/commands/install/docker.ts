/** `sluice install docker`: a Dockerfile, and a compose file with Prometheus and Grafana. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { readConfig } from '../../config/read.ts';
import { tradingSchema } from '../../config/schema.ts';
import { home, version } from '../../config/shipped.ts';
import { Refusal } from '../../domain/refusal.ts';
import { makeDirs } from '../../journal/open.ts';
import type { Output } from '../../terminal/output.ts';

export interface DockerOptions extends Output {
  readonly config: string;
  readonly mode: 'live' | 'paper';
  /** The folder to write. */
  readonly output: string;
}

export function installDocker({ config, mode, output, json, out }: DockerOptions): void {
  const { metrics } = readConfig(config, tradingSchema);
  if (metrics === undefined)
    throw new Refusal(
      `${config}: metrics is missing: add metrics: {}, by which the health check and Prometheus ask the daemon`,
    );
  const path = relative(process.cwd(), resolve(config)).split(sep).join('/');
  if (path.startsWith('../') || isAbsolute(path))
    throw new Refusal(
      `${config} is outside of this folder, which is what the image is built from: run it in the folder of the project`,
    );
  if (!/^[\w./-]+$/.test(path)) throw new Refusal(`${config}: use a name of letters, digits, dots and dashes`);
  const folder = relative(process.cwd(), resolve(output)).split(sep).join('/');
  if (!/^[\w-]+$/.test(folder)) throw new Refusal(`-o ${output}: name a folder in this one, such as deploy`);
  const values = { config: path, mode, folder, port: String(metrics.port), sluice: `sluice-${version()}.tgz` };
  const files = dockerFiles(values);
  const taken = Object.keys(files).filter((name) => existsSync(join(output, name)));
  if (taken.length > 0)
    throw new Refusal(
      `${output} has ${taken.join(', ')} already, and nothing is overwritten: name another folder with -o`,
    );
  for (const [name, text] of Object.entries(files)) {
    makeDirs(dirname(join(output, name)), 0o755);
    writeFileSync(join(output, name), text, { mode: 0o644 });
  }
  const steps = [
    `npm pack ${relative(process.cwd(), home()) || '.'} --pack-destination ${folder}`,
    `test -e ${folder}/secrets.env || install -m 600 /dev/null ${folder}/secrets.env   # then put the keys in it: SLUICE_API_KEY=…`,
    `docker compose -f ${folder}/compose.yaml up --build --detach`,
  ];
  if (json) {
    out(JSON.stringify({ version: 2, folder: output, files: Object.keys(files).toSorted(), steps }));
    return;
  }
  out(`${output} has a Dockerfile, a compose file, Prometheus and Grafana with a board. Next:`);
  for (const step of steps) out(`  ${step}`);
}

export interface DockerValues {
  /** The configuration, relative to the project. */
  readonly config: string;
  readonly mode: string;
  /** The folder of these files, relative to the project. */
  readonly folder: string;
  /** Of the metrics. */
  readonly port: string;
  /** The packed program. */
  readonly sluice: string;
}

/** The files of `deploy/docker` by their path, with these values. */
export function dockerFiles(values: DockerValues): Readonly<Record<string, string>> {
  const from = join(home(), 'deploy', 'docker');
  const names = readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(from, join(entry.parentPath, entry.name)).split(sep).join('/'));
  const filled = (text: string): string =>
    text.replaceAll(/\{\{(config|mode|folder|port|sluice)\}\}/g, (_, name: keyof DockerValues) => values[name]);
  return Object.fromEntries(
    names.map((name) => {
      const text = readFileSync(join(from, name), 'utf8');
      // A board has braces of its own.
      return [name, name.endsWith('.json') ? text : filled(text)];
    }),
  );
}
