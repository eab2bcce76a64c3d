import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { refuseNetworkDisk } from './network-disk.ts';

test('a state directory on a network file system is refused, with what to do', () => {
  expect(() => refuseNetworkDisk('/mnt/state', () => 0x6969)).toThrow('lies on a network file system (NFS)');
  expect(() => refuseNetworkDisk('/mnt/state', () => 0xff534d42)).toThrow('--state DIR');
});

test('one on a disk of this machine is not', () => {
  refuseNetworkDisk(tmpdir());
});
