/** The command lines of `sluice alerts`. */
import type { Command } from 'commander';
import { configured, type Io, jsonOption, run, setOption, stateOption } from '../../terminal/options.ts';

const load = () => import('./alerts.ts');

export function addAlerts(program: Command, io: Io): void {
  const alerts = program
    .command('alerts')
    .description('messages of a daemon: try the channels, list and acknowledge alarms');
  const test = configured(alerts.command('test').description('send one message on each channel'))
    .addOption(setOption())
    .addOption(jsonOption());
  run(test, io, async () => (await load()).testAlerts);
  const onState = (name: string, about: string): Command =>
    alerts.command(name).description(about).addOption(stateOption()).addOption(jsonOption());
  run(
    onState('list', 'alarms that nobody acknowledged, and messages that wait'),
    io,
    async () => (await load()).listAlerts,
  );
  const ack = onState('ack', 'acknowledge an alarm, or all: it is not sent again').argument('[ALARM]', 'its number');
  run(ack, io, async () => (await load()).acknowledge);
}
