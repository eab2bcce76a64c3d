/** The addresses that withdrawals may go to: a file that only its owner may change, written by hand. */
import { readFileSync, statSync } from 'node:fs';
import { Refusal } from '../domain/refusal.ts';

export interface AllowedAddress {
  readonly asset: string;
  readonly address: string;
  readonly label: string | undefined;
}

const form = 'one line for each: CURRENCY ADDRESS [LABEL], such as TUSDT TXyz… 1234; # begins a comment';

/** The entries of the file. Refuses the first wrong line. */
export function readAllowList(file: string): readonly AllowedAddress[] {
  let text: string;
  try {
    if (process.platform !== 'win32' && (statSync(file).mode & 0o022) !== 0)
      throw new Refusal(`${file} can be changed by other users of this machine: run chmod 600 ${file}`, 3);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(
      `the allow-list ${file} cannot be read (${(error as NodeJS.ErrnoException).code}): write it, ${form}`,
    );
  }
  return text.split(/\r?\n/).flatMap((line, index) => {
    const words = line
      .replace(/(^|\s)#.*$/, '')
      .trim()
      .split(/\s+/);
    if (words[0] === '') return [];
    const [asset = '', address = '', label, more] = words;
    if (address === '' || more !== undefined || !/^[A-Za-z0-9_-]{1,40}$/.test(asset))
      throw new Refusal(`${file}, line ${index + 1}: ${line.trim()}: must be ${form}`);
    return [{ asset: asset.toUpperCase(), address, label }];
  });
}

/** Refuses (exit 3) unless currency, address and label are listed, letter by letter. */
export function refuseUnlisted(list: readonly AllowedAddress[], file: string, given: AllowedAddress): void {
  const { asset, address, label } = given;
  if (list.some((one) => one.asset === asset && one.address === address && one.label === label)) return;
  const near = list.find((one) => one.address === address);
  const why =
    near === undefined
      ? 'the address is not in it'
      : `it lists the address for ${near.asset}${near.label === undefined ? ' without a label' : ` with label ${near.label}`}`;
  throw new Refusal(
    `${file} does not allow ${asset} to ${address}${label === undefined ? '' : ` with label ${label}`}: ${why}. Add the line by hand if it is meant`,
    3,
  );
}
