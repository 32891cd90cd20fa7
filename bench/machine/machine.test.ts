import { expect, it } from 'vitest';
import { fileSystemOf } from './machine.ts';

const mounts = '/dev/vda / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/vdb /data xfs rw 0 0\n';

it.each([
  ['/home/x', 'ext4'],
  ['/tmp', 'tmpfs'],
  ['/tmp/x', 'tmpfs'],
  ['/data2', 'ext4'],
])('%s is on %s', (folder, type) => {
  expect(fileSystemOf(folder, mounts)).toBe(type);
});
