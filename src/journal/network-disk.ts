/** Refuses a state directory on a network file system: locks and syncs are not reliable there. */
import { statfsSync } from 'node:fs';
import { Refusal } from '../domain/refusal.ts';

/** Network file systems by their magic number (statfs(2)). */
const networks: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x564c, 'NCP'],
]);

export function refuseNetworkDisk(dir: string, typeOf = (path: string): number => statfsSync(path).type): void {
  const kind = networks.get(typeOf(dir));
  if (kind === undefined) return;
  throw new Refusal(
    `state directory ${dir} lies on a network file system (${kind}): what is written there may be lost, and two machines could write at once. Give one on a disk of this machine with --state DIR`,
  );
}
