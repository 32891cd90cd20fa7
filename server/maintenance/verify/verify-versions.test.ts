import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { put, randomBody, type TestLayer } from '../../../test/support/objects/test-layer.ts';
import {
  deleteRecord,
  flipped,
  LARGE,
  readBlob,
  replaceBlob,
  writeRecord,
} from '../../../test/support/maintenance/filled-layer.ts';
import { versionedLayer, versionsOf } from '../../../test/support/maintenance/versioned-layer.ts';
import { commitOnce } from '../../store/commits.ts';
import { decodeKey, within } from '../../store/keys.ts';
import type { Entry } from '../../store/record-store.ts';
import { decodeObject, encodeObject, type ObjectRecord } from '../../objects/records/object-record.ts';
import { encodeRecord, recordKeys, versionOrder } from '../../objects/records/record-format.ts';
import type { Issue } from './issue.ts';
import { allObjectRecords, entries, type Place, placeFrom, storedPlace } from './object-records.ts';
import { verifyStores } from './verify-stores.ts';

async function issues({ records, blobs, keys }: TestLayer): Promise<Issue[]> {
  return Array.fromAsync(verifyStores({ records, blobs, keys, now: Date.now(), bodies: true, graceMs: 0 }));
}

/** The noncurrent versions of `key`, as they are stored. */
async function noncurrent(test: TestLayer): Promise<readonly { entry: Entry; record: ObjectRecord }[]> {
  const found = await Array.fromAsync(entries(test.records, within('v', 'bucket', 'key')));
  return found.map((entry) => ({ entry, record: decodeObject(entry.value, 'bucket', 'key') }));
}

/** The noncurrent version of `key` with a blob. */
async function withBlob(test: TestLayer) {
  const found = (await noncurrent(test)).find(({ record }) => record.body.kind === 'blob');
  if (found?.record.body.kind !== 'blob' || found.record.versionId === undefined) throw new Error('no blob');
  return { ...found, blob: found.record.body.blob, versionId: found.record.versionId };
}

const inconsistent = (message: string): unknown => [
  expect.objectContaining({
    kind: 'inconsistent-versions',
    bucket: 'bucket',
    message: expect.stringContaining(message),
  }),
];

const shown = (place: Place): string => JSON.stringify(storedPlace(place));

describe('verifyStores with versions', () => {
  it('finds nothing, and counts objects and the other versions', async () => {
    const test = await versionedLayer();
    expect(await issues(test)).toEqual([]);
    const verification = verifyStores({ ...test, now: Date.now() });
    // Current objects: key, null-large, parts; locked/key; suspended/key.
    expect((await verification.next()).value).toMatchObject({ objects: 5, versions: 5 + 1 + 1 + 2 + 1 + 1 + 1 + 1 });
  });

  it('finds a changed byte in the blob of a noncurrent version, and names the version', async () => {
    const test = await versionedLayer();
    const { blob, versionId } = await withBlob(test);
    await replaceBlob(test, blob, flipped(await readBlob(test, blob), 100));
    const message = expect.stringContaining(`version ${versionId} of bucket/key`);
    expect(await issues(test)).toMatchObject([
      { kind: 'damaged-body', bucket: 'bucket', key: 'key', versionId, blob, message },
    ]);
  });

  it.each(['i', 'm'])('finds records of kind %s that no version has', async (kind) => {
    const test = await versionedLayer();
    const order = versionOrder('ff'.repeat(16));
    const key = kind === 'i' ? recordKeys.inline : recordKeys.manifest;
    await writeRecord(test, key('bucket', 'key', order), Buffer.from('anything'));
    expect(await issues(test)).toMatchObject([{ kind: 'lost-object' }]);
  });

  it.each(['i', 'm'])('finds that the record of kind %s of a noncurrent version is gone', async (kind) => {
    const test = await versionedLayer();
    const found = (await Array.fromAsync(entries(test.records, within(kind)))).find(
      ({ key }) => decodeKey(key).length === 4,
    );
    await deleteRecord(test, found?.key ?? Buffer.alloc(1));
    expect(await issues(test)).toContainEqual(
      expect.objectContaining({ kind: 'missing-body', versionId: expect.any(String) }),
    );
  });

  it('finds a quarantine of a version that is not damaged', async () => {
    const test = await versionedLayer();
    const { record } = await withBlob(test);
    const key = recordKeys.damage('bucket', 'key', versionOrder(record.versionId));
    await writeRecord(test, key, encodeRecord({ found: 1, what: 'x' }));
    expect(await issues(test)).toMatchObject([
      { kind: 'stray-record', message: expect.stringContaining(`version ${record.versionId} of bucket/key`) },
    ]);
  });

  describe('finds contradictions:', () => {
    it('a key with a current object and a current delete marker', async () => {
      const test = await versionedLayer();
      const marker = await test.records.get(recordKeys.marker('bucket', 'hidden'));
      await writeRecord(test, recordKeys.marker('bucket', 'key'), marker?.value ?? Buffer.alloc(0));
      expect(await issues(test)).toEqual(inconsistent('bucket/key has a current object and a current delete marker'));
    });

    it('a key with noncurrent versions alone', async () => {
      const test = await versionedLayer();
      await deleteRecord(test, recordKeys.marker('bucket', 'hidden'));
      expect(await issues(test)).toEqual(
        inconsistent('bucket/hidden has noncurrent versions, and neither a current object nor a delete marker'),
      );
    });

    it('a key with two null versions', async () => {
      const test = await versionedLayer();
      const entry = await test.records.get(recordKeys.object('bucket', 'null-large'));
      const { versionId: _, ...record } = decodeObject(entry?.value ?? Buffer.alloc(0), 'bucket', 'null-large');
      await writeRecord(test, recordKeys.object('bucket', 'null-large'), encodeObject(record));
      expect(await issues(test)).toEqual(inconsistent('bucket/null-large has two null versions'));
    });

    it('a version under the key of another', async () => {
      const test = await versionedLayer();
      const [found] = (await noncurrent(test)).filter(({ record }) => record.deleteMarker === true);
      if (found === undefined) throw new Error('no marker');
      await writeRecord(test, found.entry.key, encodeObject({ ...found.record, versionId: '12'.repeat(16) }));
      expect(await issues(test)).toEqual(inconsistent('has the version id 1212'));
    });

    it('an object as current delete marker', async () => {
      const test = await versionedLayer();
      const { record } = await withBlob(test);
      const { versionId: _, ...rest } = record;
      await writeRecord(test, recordKeys.marker('bucket', 'hidden'), encodeObject(rest));
      expect(await issues(test)).toEqual(inconsistent('bucket/hidden has an object as current delete marker'));
    });

    it('a delete marker as current object', async () => {
      const test = await versionedLayer();
      const marker = await test.records.get(recordKeys.marker('bucket', 'hidden'));
      const batch = {
        put: [{ key: recordKeys.object('bucket', 'hidden'), value: marker?.value ?? Buffer.alloc(0) }],
        delete: [recordKeys.marker('bucket', 'hidden')],
      };
      await commitOnce(test.records, batch, randomBytes);
      expect(await issues(test)).toMatchObject([{ kind: 'unreadable-record' }]);
    });

    it('a delete marker that cannot be read', async () => {
      const test = await versionedLayer();
      await writeRecord(test, recordKeys.marker('bucket', 'hidden'), Buffer.of(9, 9));
      expect(await issues(test)).toMatchObject([{ kind: 'unreadable-record' }]);
    });
  });

  it('finds nothing while versions are written, hidden, removed and shown again', async () => {
    const test = await versionedLayer();
    const finished = new AbortController();
    const load = Promise.all(
      Array.from({ length: 4 }, async (_, writer) => {
        const name = `load-${writer}`;
        for (let round = 0; !finished.signal.aborted; round += 1) {
          await test.layer.putObject(put('bucket', name, randomBody(round % 2 === 0 ? 10 : LARGE)));
          if (round % 3 === 0) await test.layer.deleteObject('bucket', name);
          const newest = (await versionsOf(test, 'bucket')).find(({ key }) => key === name);
          if (round % 2 === 0) await test.layer.deleteObject('bucket', name, { versionId: newest?.versionId ?? '' });
          await new Promise((resolve) => setImmediate(resolve));
        }
      }),
    );
    for (let round = 0; round < 10; round += 1) {
      const { records, blobs } = test;
      expect(await Array.fromAsync(verifyStores({ records, blobs, now: Date.now(), bodies: true }))).toEqual([]);
    }
    finished.abort();
    await load;
  });
});

describe('allObjectRecords', () => {
  it('continues after each version with the same records as one pass', async () => {
    const { records } = await versionedLayer();
    const all = await Array.fromAsync(allObjectRecords(records));
    for (const [index, place] of all.entries()) {
      const after = placeFrom(storedPlace(place));
      const rest = await Array.fromAsync(allObjectRecords(records, { after }));
      expect(rest.map(shown)).toEqual(all.slice(index + 1).map(shown));
      expect(rest.map(({ current }) => current?.key)).toEqual(all.slice(index + 1).map(({ current }) => current?.key));
      expect(rest.some(({ headless }) => headless)).toBe(false);
    }
  });
});
