import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { from, listed, read, someBlobId } from '../../test/support/store/blob-store.conformance.ts';
import type { BlobStore } from './blob-store.ts';
import { openFilesBlobStore } from './files/blob-store.ts';
import { key } from './keys.ts';
import { openLmdbRecordStore } from './lmdb/record-store.ts';
import { MemoryBlobStore } from './memory/blob-store.ts';
import { MemoryRecordStore } from './memory/record-store.ts';
import { commitId } from '../../test/support/store/patient.ts';
import { everything } from '../../test/support/store/record-scan.conformance.ts';
import type { RecordStore } from './record-store.ts';
import { temporaryFolder } from '../../test/support/store/temporary-folder.ts';

interface Stores {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
}

interface Machine extends Stores {
  /** The process ends here; what the next one finds. */
  crash(): Promise<Stores>;
  clean(): Promise<void>;
}

function inMemory(): Promise<Machine> {
  const records = new MemoryRecordStore();
  const blobs = new MemoryBlobStore();
  return Promise.resolve({
    records,
    blobs,
    crash: () => Promise.resolve({ records: records.crash(), blobs: blobs.crash() }),
    clean: () => Promise.resolve(),
  });
}

async function onDisk(): Promise<Machine> {
  const folder = await temporaryFolder();
  const [recordsFolder, blobsFolder] = [join(folder.path, 'records'), join(folder.path, 'blobs')];
  await Promise.all([mkdir(recordsFolder), mkdir(blobsFolder)]);
  const open = () => ({
    records: openLmdbRecordStore({ folder: recordsFolder }),
    blobs: openFilesBlobStore(blobsFolder),
  });
  const first = open();
  let second: Stores | undefined;
  return {
    ...first,
    async crash() {
      await first.records.close();
      second = open();
      return second;
    },
    async clean() {
      await second?.records.close();
      await folder.remove();
    },
  };
}

describe.each([
  ['memory', inMemory],
  ['LMDB and files', onDisk],
])('a crash between the blob and its commit, on %s', (_name, start) => {
  it('leaves the blob to the sweeper, and no record of it', async () => {
    const machine = await start();
    const id = someBlobId();
    await machine.blobs.write(id, from([Buffer.from('body')]));
    const { records, blobs } = await machine.crash();
    expect(await listed(blobs)).toEqual([id]);
    expect(await Array.fromAsync(records.scan(everything))).toEqual([]);
    await blobs.remove(id);
    expect(await listed(blobs)).toEqual([]);
    await machine.clean();
  });

  it('leaves both when it comes after the commit', async () => {
    const machine = await start();
    const id = someBlobId();
    await machine.blobs.write(id, from([Buffer.from('body')]));
    await machine.records.commit({ id: commitId(), put: [{ key: key('o', 'b', 'k'), value: Buffer.from(id) }] });
    const { records, blobs } = await machine.crash();
    expect((await records.get(key('o', 'b', 'k')))?.value.toString()).toBe(id);
    expect((await read(blobs, id, 0, 4)).toString()).toBe('body');
    await machine.clean();
  });
});
