/** Command-line options that several commands take. */
import { Option } from 'commander';

export const stateOption = (): Option => new Option('--state <DIR>', 'the state directory');
export const jsonOption = (): Option =>
  new Option('--json', 'machine output on stdout; everything else goes to stderr').default(false);
