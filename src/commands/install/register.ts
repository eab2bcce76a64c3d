/** The command lines of `sluice install`. */
import { type Command, Option } from 'commander';
import { configured, type Io, jsonOption, run, stateOption } from '../../terminal/options.ts';

export function addInstall(program: Command, io: Io): void {
  const install = program.command('install').description('run a daemon under a supervisor: systemd, or Docker');
  const add = (name: string, about: string): Command =>
    configured(install.command(name).description(about))
      .addOption(new Option('--mode <MODE>', 'what runs').choices(['live', 'paper']).default('live'))
      .addOption(jsonOption());
  const systemd = add('systemd', 'print a hardened unit, with a watchdog and limits to restarts')
    .addOption(stateOption())
    .option('--user <NAME>', 'the user that runs it', 'sluice')
    .option('--secrets <FILE>', 'file with the keys, mode 600', '/etc/sluice/secrets.env');
  run(systemd, io, async () => (await import('./systemd.ts')).installSystemd);
  const docker = add('docker', 'write a Dockerfile, and a compose file with Prometheus and Grafana').option(
    '-o, --output <FOLDER>',
    'the folder to write, in this one',
    'deploy',
  );
  run(docker, io, async () => (await import('./docker.ts')).installDocker);
}
