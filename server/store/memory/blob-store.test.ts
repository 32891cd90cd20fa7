import { describe, expect, it } from 'vitest';
import {
  describeBlobStore,
  from,
  inPieces,
  listed,
  read,
  someBlobId,
} from '../../../test/support/store/blob-store.conformance.ts';
import { Faults } from './faults.ts';
import { MemoryBlobStore } from './blob-store.ts';

describeBlobStore('memory', { open: () => Promise.resolve(new MemoryBlobStore()) });
describeBlobStore('memory, slow', {
  open: () => Promise.resolve(new MemoryBlobStore({ faults: new Faults({ seed: 5, latencyTicks: 3 }) })),
});

describe('the memory blob store', () => {
  it('fails a write halfway when the script says so, and leaves nothing', async () => {
    const store = new MemoryBlobStore();
    store.faults.script('blobWrite');
    const id = someBlobId();
    await expect(store.write(id, inPieces(Buffer.alloc(1000), 10))).rejects.toMatchObject({ code: 'full' });
    expect(await listed(store)).toEqual([]);
  });

  it('breaks a read off when the script says so', async () => {
    const store = new MemoryBlobStore();
    const id = someBlobId();
    await store.write(id, from([Buffer.alloc(1000)]));
    store.faults.script('blobRead');
    await expect(read(store, id, 0, 1000)).rejects.toMatchObject({ code: 'unreachable' });
    expect((await read(store, id, 0, 1000)).length).toBe(1000);
  });

  it('keeps whole blobs across a crash and shows half-written ones to the sweeper alone', async () => {
    const store = new MemoryBlobStore();
    const [whole, half] = [someBlobId(), someBlobId()];
    await store.write(whole, from([Buffer.from('x')]));
    const begun = Promise.withResolvers<void>();
    const writing = store.write(
      half,
      (async function* () {
        begun.resolve();
        await Promise.resolve();
        yield Buffer.from('y');
      })(),
    );
    await begun.promise;
    const restarted = store.crash();
    await expect(writing).rejects.toMatchObject({ code: 'closed' });
    expect((await listed(restarted)).toSorted()).toEqual([whole, half].toSorted());
    await expect(read(restarted, half, 0, 1)).rejects.toMatchObject({ code: 'blob-missing' });
    expect((await read(restarted, whole, 0, 1)).toString()).toBe('x');
  });
});
