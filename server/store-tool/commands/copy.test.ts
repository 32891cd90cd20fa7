import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { put, testLayer } from '../../../test/support/objects/test-layer.ts';
import { readCopyState } from '../../maintenance/migrate/copy-stores.ts';
import type { BlobsMarker } from '../../store/blobs-marker.ts';
import type { BlobStore } from '../../store/blob-store.ts';
import { commitOnce } from '../../store/commits.ts';
import { prefixOf } from '../../store/keys.ts';
import { deploymentKey, encodeDeployment, joinDeployment } from '../../store/deployment.ts';
import { MemoryBlobStore } from '../../store/memory/blob-store.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { OpenedStores } from '../open-stores.ts';
import { Report } from '../report.ts';
import { copyOpened } from './copy.ts';

const deploymentId = '6f0d9a9e-8f3f-4d49-8f0e-0f6f3cf1a111';

function memoryMarker(id?: string): BlobsMarker {
  let kept = id;
  return {
    read: () => Promise.resolve(kept),
    write: (written) => {
      kept ??= written;
      return Promise.resolve();
    },
    readCheckpoint: () => Promise.resolve(undefined),
    writeCheckpoint: () => Promise.resolve(),
  };
}

function opened(records: RecordStore, blobs: BlobStore, id?: string): OpenedStores {
  const description = id === undefined ? 'the target' : 'the source';
  return {
    records,
    blobs,
    places: { dataFolders: [] } as never,
    marker: memoryMarker(id),
    description,
    locked: false,
    deploymentId: () => Promise.resolve(id),
    close: () => Promise.resolve(),
  };
}

async function source() {
  const { layer, records, blobs } = testLayer();
  const put1 = [{ key: deploymentKey, value: encodeDeployment({ deploymentId, marked: true }) }];
  await commitOnce(records, { put: put1 }, randomBytes);
  await layer.createBucket('bucket', { location: '' });
  await layer.putObject(put('bucket', 'a', 'small'));
  await layer.putObject(put('bucket', 'large', randomBytes(300_000)));
  return { layer, records, blobs };
}

/** Calls `act` once, before the first read of a body. */
function actingBlobs(blobs: MemoryBlobStore, act: () => Promise<unknown>): BlobStore {
  let acted: Promise<unknown> | undefined;
  return new Proxy(blobs, {
    get(store, name) {
      const found = Reflect.get(store, name) as unknown;
      if (name !== 'read') return typeof found === 'function' ? (found.bind(store) as unknown) : found;
      return (...args: Parameters<BlobStore['read']>) => {
        const chunks = store.read(...args);
        return {
          ownership: chunks.ownership,
          next: async () => {
            await (acted ??= act());
            return chunks.next();
          },
          close: () => chunks.close(),
        };
      };
    },
  });
}

async function told(from: OpenedStores, to: OpenedStores, signal = AbortSignal.any([])) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const report = new Report({ stdout, stderr, env: {}, signal }, { json: false });
  const code = await copyOpened(from, to, { sourceStopped: true, concurrency: 1 }, { signal }, report);
  return { code, said: `${String(stdout.read() ?? '')}${String(stderr.read() ?? '')}` };
}

async function copied(...stores: Parameters<typeof told>): Promise<number> {
  return (await told(...stores)).code;
}

/** Records with counts that are `more` than what is there. */
function countedRecords(records: RecordStore, more: number): RecordStore {
  const count = { group: prefixOf('o', 'bucket'), bytes: 100, sums: [1, 2] } as const;
  const counted = { counts: [{ ...count, records: 2 + more }], found: [{ ...count, records: 2 }] };
  return new Proxy(records, {
    get(store, name) {
      if (name === 'counted') return () => Promise.resolve(counted);
      const found = Reflect.get(store, name) as unknown;
      return typeof found === 'function' ? (found.bind(store) as unknown) : found;
    },
  });
}

describe('a copy of stores', () => {
  it('is complete where nothing changes', async () => {
    const { records, blobs } = await source();
    const to = opened(new MemoryRecordStore(), new MemoryBlobStore());
    expect(await copied(opened(records, blobs, deploymentId), to)).toBe(0);
    expect(await readCopyState(to.records)).toBeUndefined();
  });

  it('is called complete only where the records of the source were compared with their counts', async () => {
    const { records, blobs } = await source();
    const target = () => opened(new MemoryRecordStore(), new MemoryBlobStore());
    const whole = await told(opened(countedRecords(records, 0), blobs, deploymentId), target());
    expect(whole.said).toContain('The copy is complete.');
    const uncounted = await told(opened(records, blobs, deploymentId), target());
    expect(uncounted.code).toBe(0);
    expect(uncounted.said).not.toContain('The copy is complete.');
    expect(uncounted.said).toContain('Whether records are missing there cannot be told, since an older server wrote');
  });

  it('tells that records of the source are lost, which the copy itself cannot show', async () => {
    const { records, blobs } = await source();
    const to = opened(new MemoryRecordStore(), new MemoryBlobStore());
    const { code, said } = await told(opened(countedRecords(records, 3), blobs, deploymentId), to);
    expect(code).toBe(1);
    expect(said).toContain('lost-records: the records ["o","bucket"] should be 5, and are 2: 3 are lost');
    expect(said).toContain('Records of the source are lost, and the copy does not have them');
    expect(said).not.toContain('complete');
  });

  it.each<[string, (layer: Awaited<ReturnType<typeof source>>['layer']) => Promise<unknown>]>([
    ['written', (layer) => layer.putObject(put('bucket', 'late', 'x'))],
    ['replaced', (layer) => layer.putObject(put('bucket', 'a', 'other'))],
    ['deleted', (layer) => layer.deleteObject('bucket', 'a')],
  ])('is not called complete where an object of the source is %s while the copy is verified', async (_what, change) => {
    const { layer, records, blobs } = await source();
    // The bodies of the target are read by the verification alone.
    const to = opened(
      new MemoryRecordStore(),
      actingBlobs(new MemoryBlobStore(), () => change(layer)),
    );
    await expect(copied(opened(records, blobs, deploymentId), to)).rejects.toThrow(/differs?: the source was changed/);
    expect(await readCopyState(to.records)).toMatchObject({ deploymentId });
    expect(await to.marker.read()).toBeUndefined();
  });

  it('that ends while it counts the source leaves a target that no server takes for new', async () => {
    const { records, blobs } = await source();
    const target = new MemoryRecordStore();
    const killed = new Proxy(records, {
      get(store, name) {
        const found = Reflect.get(store, name) as unknown;
        if (name !== 'scan') return typeof found === 'function' ? (found.bind(store) as unknown) : found;
        return () => {
          throw new Error('killed');
        };
      },
    });
    const to = opened(target, new MemoryBlobStore());
    await expect(copied(opened(killed, blobs, deploymentId), to)).rejects.toThrow('killed');
    const places = { records: 'the target', blobs: 'the target' };
    const joining = joinDeployment({ records: target, marker: memoryMarker(), places, sameFolder: false });
    await expect(joining).rejects.toThrow('a copy to the records at the target is not finished');
    expect(await copied(opened(records, blobs, deploymentId), to)).toBe(0);
  });
});
