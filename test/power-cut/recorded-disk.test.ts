import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RecordedDisk } from './recorded-disk.ts';

it('a folder keeps a name that a flush has made durable, when an earlier flush ends later', async () => {
  const disk = new RecordedDisk('/base');
  for (const fd of [1, 2]) disk.apply({ kind: 'open', fd, path: '/base', truncates: false });
  disk.apply({ kind: 'sync-begin', number: 1, fd: 1 });
  disk.apply({ kind: 'mkdir', path: '/base/new' });
  disk.apply({ kind: 'sync-begin', number: 2, fd: 2 });
  disk.apply({ kind: 'sync-end', number: 2 });
  disk.apply({ kind: 'sync-end', number: 1 });
  const target = await mkdtemp(join(tmpdir(), 'recorded-disk-'));
  try {
    disk.writeTo(target);
    expect(await readdir(target)).toEqual(['new']);
  } finally {
    await rm(target, { recursive: true });
  }
});
