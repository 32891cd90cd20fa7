import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { BlockSumsHasher } from '../../objects/checksums/block-sums.ts';
import { encodeObject } from '../../objects/records/object-record.ts';
import { encodeBlockSums } from '../../objects/records/body-records.ts';
import { encodeRecord, recordKeys } from '../../objects/records/record-format.ts';
import { chunks, put, randomBody, testLayer, type TestLayer } from '../../../test/support/objects/test-layer.ts';
import { quarantine } from '../../objects/operations/quarantine.ts';
import { ORPHAN_GRACE_PERIOD } from '../../objects/garbage-collection/orphan-grace-period.ts';
import type { BlobId } from '../../store/blob-store.ts';
import { key } from '../../store/keys.ts';
import { MemoryBlobStore } from '../../store/memory/blob-store.ts';
import type { Issue } from './issue.ts';
import {
  blobOf,
  deleteRecord,
  filledLayer,
  flipped,
  LARGE,
  makeOlder,
  partBlobs,
  readBlob,
  recordOf,
  replaceBlob,
  valueOf,
  writeRecord,
} from '../../../test/support/maintenance/filled-layer.ts';
import { verifyStores, type VerifyOptions, type VerifySummary } from './verify-stores.ts';
import { inFullForm } from '../../../test/support/full-form.ts';

describe('verifyStores', () => {
  it('finds nothing in stores that were used as they should be', async () => {
    const test = await filledLayer();
    expect(await issues(test)).toEqual([]);
    expect(await issues(test, { bodies: false })).toEqual([]);
  });

  it('tells what it looked at', async () => {
    const summary = await verified(await filledLayer());
    expect(summary).toMatchObject({ objects: 7, uploads: 1, blobs: 7, findings: 0 });
    // Two of LARGE and one encrypted, two parts, one part of the upload that is under way.
    expect(summary.bytes).toBe(3 * LARGE + 1 + 5 * 16 + 5 * 1024 * 1024 + 1_000 + 2_000);
  });

  it('tells of an object that is quarantined and whole, unless it is released', async () => {
    const test = await filledLayer();
    const stored = await recordOf(test, 'large');
    const entry = await test.records.get(recordKeys.object('bucket', 'large'));
    if (entry === undefined) throw new Error('not there');
    const damage = { found: Date.UTC(2026, 10, 1), what: 'block 3 is damaged' };
    await quarantine(test.records, { bucket: 'bucket', key: 'large' }, entry, damage, randomBytes);
    const [issue, ...more] = await issues(test);
    expect([stored.damage, more]).toEqual([undefined, []]);
    expect(issue).toMatchObject({
      kind: 'quarantined-object',
      key: 'large',
      message: expect.stringMatching(
        /not served since 2026-11-01T.* \(block 3 is damaged\); it is whole: the next GET/,
      ),
    });
    expect((await issues(test, { bodies: false }))[0]?.message).toMatch(/was not read: verify without --quick$/);
    expect(await issues(test, { onWhole: () => Promise.resolve() })).toEqual([]);
  });

  it('opens encrypted bodies where it has keys', async () => {
    const test = await filledLayer();
    expect(await issues(test, { keys: test.keys })).toEqual([]);
  });

  it('finds nothing while objects are written, replaced and deleted', async () => {
    const test = await filledLayer();
    const finished = new AbortController();
    const load = Promise.all(
      Array.from({ length: 4 }, async (_, writer) => {
        for (let round = 0; !finished.signal.aborted; round += 1) {
          const name = `load-${writer}-${round % 3}`;
          await test.layer.putObject(put('bucket', name, randomBody(round % 2 === 0 ? 10 : LARGE)));
          if (round % 5 === 0) await test.layer.deleteObject('bucket', name);
          await new Promise((resolve) => setImmediate(resolve));
        }
      }),
    );
    for (let round = 0; round < inFullForm(20, 8); round += 1) expect(await issues(test)).toEqual([]);
    finished.abort();
    await load;
  });

  describe('finds every changed byte', () => {
    it.each(['large', 'large-sealed'])('of the blob of %s', async (name) => {
      const test = await filledLayer();
      const blob = await blobOf(test, name);
      const bytes = await readBlob(test, blob);
      for (const at of [0, 1, 2, 65_536, 65_540, Math.floor(bytes.length / 2), bytes.length - 1]) {
        await replaceBlob(test, blob, flipped(bytes, at));
        expect(await issues(test)).toMatchObject([{ kind: 'damaged-body', bucket: 'bucket', key: name, blob }]);
      }
    });

    it.each(['small', 'small-sealed'])('of the inline body of %s', async (name) => {
      const test = await filledLayer();
      const record = recordKeys.inline('bucket', name);
      const value = await valueOf(test, record);
      for (let at = 0; at < value.length; at += at < 40 ? inFullForm(1, 3) : inFullForm(97, 397)) {
        await writeRecord(test, record, flipped(value, at));
        expect(await issues(test, { bodies: false }), `byte ${at}`).toMatchObject([
          { kind: 'damaged-body', bucket: 'bucket', key: name },
        ]);
      }
    });

    it('of a manifest', async () => {
      const test = await filledLayer();
      const record = recordKeys.manifest('bucket', 'parts');
      const value = await valueOf(test, record);
      for (let at = 0; at < value.length; at += 19) {
        await writeRecord(test, record, flipped(value, at));
        expect(await issues(test, { bodies: false }), `byte ${at}`).toContainEqual(
          expect.objectContaining({ kind: 'damaged-body', bucket: 'bucket', key: 'parts' }),
        );
      }
    });

    it('of an encrypted body without the checksum of its ciphertext, where it has keys', async () => {
      const test = await filledLayer();
      const record = await recordOf(test, 'large-sealed');
      if (record.body.kind !== 'blob' || !('salt' in record.body)) throw new Error('not encrypted');
      const { mac: _, ...body } = record.body;
      await writeRecord(test, recordKeys.object('bucket', 'large-sealed'), encodeObject({ ...record, body }));
      const blob = body.blob;
      await replaceBlob(test, blob, flipped(await readBlob(test, blob), 70_000));
      expect(await issues(test)).toEqual([]);
      expect(await issues(test, { keys: test.keys })).toMatchObject([{ kind: 'damaged-body', key: 'large-sealed' }]);
    });
  });

  describe('finds of blobs', () => {
    it('one that is gone', async () => {
      const test = await filledLayer();
      const blob = await blobOf(test, 'large');
      await test.blobs.remove(blob);
      for (const bodies of [true, false]) {
        expect(await issues(test, { bodies })).toMatchObject([{ kind: 'missing-body', key: 'large', blob }]);
      }
    });

    it.each([-1, 1])('one that is longer by %i', async (by) => {
      const test = await filledLayer();
      const blob = await blobOf(test, 'large');
      const bytes = await readBlob(test, blob);
      await replaceBlob(test, blob, by < 0 ? bytes.subarray(0, by) : Buffer.concat([bytes, Buffer.alloc(by)]));
      for (const bodies of [true, false]) {
        expect(await issues(test, { bodies })).toMatchObject([{ kind: 'damaged-body', key: 'large', blob }]);
      }
    });

    it('two that were swapped', async () => {
      const test = await filledLayer();
      const [one, other] = [await blobOf(test, 'large'), await blobOf(test, 'replaced')];
      const [bytes, others] = [await readBlob(test, one), await readBlob(test, other)];
      await replaceBlob(test, one, others);
      await replaceBlob(test, other, bytes);
      expect(await issues(test)).toMatchObject([
        { kind: 'damaged-body', key: 'large' },
        { kind: 'damaged-body', key: 'replaced' },
      ]);
    });

    it('a part of an upload that is damaged', async () => {
      const test = await filledLayer();
      const owned = (await Array.fromAsync(test.blobs.list())).find(({ size }) => size === 2_000);
      const blob = owned?.id as BlobId;
      await replaceBlob(test, blob, randomBody(2_000));
      expect(await issues(test)).toMatchObject([{ kind: 'damaged-body', key: 'open', uploadId: test.uploadId, blob }]);
    });

    it('one without an owner beyond the grace period, half-written or whole', async () => {
      const clock = { now: Date.now() };
      const blobs = new MemoryBlobStore({ now: () => clock.now });
      const test = testLayer({ blobs });
      const id = randomBytes(16).toString('hex') as BlobId;
      await blobs.write(id, chunks(randomBody(10), 10));
      const half = randomBytes(16).toString('hex') as BlobId;
      void blobs.write(half, endless()).catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
      clock.now += ORPHAN_GRACE_PERIOD - 1;
      expect(await issues(test)).toEqual([]);
      clock.now += 1;
      expect((await issues(test)).toSorted(byBlob)).toMatchObject(
        [id, half].toSorted().map((blob) => ({ kind: 'orphan-blob', blob })),
      );
    });
  });

  describe('finds of owners', () => {
    it('that there is none', async () => {
      const test = await filledLayer();
      const blob = await blobOf(test, 'large');
      await deleteRecord(test, recordKeys.owner(blob));
      expect(await issues(test)).toMatchObject([{ kind: 'unowned-blob', key: 'large', blob }]);
    });

    it('that it names another object', async () => {
      const test = await filledLayer();
      const blob = await blobOf(test, 'large');
      await writeRecord(test, recordKeys.owner(blob), encodeRecord({ object: '0'.repeat(32) }));
      expect(await issues(test)).toMatchObject([{ kind: 'unowned-blob', key: 'large', blob }]);
    });

    it('that the blob is queued for removal', async () => {
      const test = await filledLayer();
      const blob = await blobOf(test, 'large');
      await writeRecord(test, recordKeys.removal(blob), encodeRecord({ queued: 0 }));
      expect(await issues(test)).toMatchObject([{ kind: 'unowned-blob', key: 'large', blob }]);
    });

    it('that the sweeper gave the blob up', async () => {
      const test = await filledLayer();
      await writeRecord(test, recordKeys.tombstone(await blobOf(test, 'large')), encodeRecord({ given: 0 }));
      expect(await issues(test)).toMatchObject([{ kind: 'stray-record' }]);
    });

    it('that nothing refers to what it owns', async () => {
      const test = await filledLayer();
      const blob = await blobOf(test, 'large');
      await deleteRecord(test, recordKeys.object('bucket', 'large'));
      expect(await issues(test)).toMatchObject([{ kind: 'lost-object', record: JSON.stringify(['r', blob]) }]);
    });
  });

  describe('finds of block sums', () => {
    const everyWay = [true, false];

    it('that they are missing, of a part of an object and of an upload', async () => {
      const test = await filledLayer();
      const blobs = await partBlobs(test);
      for (const blob of blobs) await deleteRecord(test, recordKeys.blockSums(blob));
      for (const bodies of everyWay) {
        const expected = blobs.map((blob) => ({
          kind: 'block-sums',
          blob,
          message: expect.stringContaining('missing'),
        }));
        expect(await issues(test, { bodies })).toMatchObject(expected);
      }
    });

    it('every changed byte', async () => {
      const test = await filledLayer();
      const [blob] = await partBlobs(test);
      const key = recordKeys.blockSums(blob as BlobId);
      const value = await valueOf(test, key);
      for (let at = 0; at < value.length; at += at < 8 ? 1 : inFullForm(61, 241)) {
        await writeRecord(test, key, flipped(value, at));
        for (const bodies of everyWay) {
          expect(await issues(test, { bodies }), `byte ${at}`).toMatchObject([{ kind: 'block-sums', blob }]);
        }
      }
    });

    it('that they are those of other bytes, of other blocks, and of too few', async () => {
      const test = await filledLayer();
      const [blob] = await partBlobs(test);
      const bytes = await readBlob(test, blob as BlobId);
      const others = [sumsOf(flipped(bytes, 9)), sumsOf(bytes.subarray(0, LARGE)), sumsOf(bytes, 1_048_576)];
      for (const value of [...others, Buffer.alloc(0)]) {
        await writeRecord(test, recordKeys.blockSums(blob as BlobId), value);
        for (const bodies of everyWay) {
          expect(await issues(test, { bodies })).toMatchObject([{ kind: 'block-sums', key: 'parts', blob }]);
        }
      }
    });

    it('of an older body: nothing where there are none, and what is wrong where there are some', async () => {
      const test = await filledLayer();
      const bytes = await makeOlder(test, 'large');
      const blob = await blobOf(test, 'large');
      const key = recordKeys.blockSums(blob);
      expect(await issues(test)).toEqual([]);
      for (const block of [65_536, 131_072, 1_048_576]) {
        await writeRecord(test, key, sumsOf(bytes, block));
        for (const bodies of everyWay) expect(await issues(test, { bodies })).toEqual([]);
      }
      await writeRecord(test, key, sumsOf(flipped(bytes, 9)));
      expect(await issues(test)).toMatchObject([{ kind: 'block-sums', key: 'large', blob }]);
      // Only the bytes tell that.
      expect(await issues(test, { bodies: false })).toEqual([]);
      await writeRecord(test, key, sumsOf(bytes.subarray(0, 1_000)));
      expect(await issues(test, { bodies: false })).toMatchObject([{ kind: 'block-sums', key: 'large', blob }]);
    });

    it('of a blob that nothing owns', async () => {
      const test = await filledLayer();
      const key = recordKeys.blockSums('0'.repeat(32) as BlobId);
      await writeRecord(test, key, sumsOf(Buffer.alloc(10)));
      expect(await issues(test)).toMatchObject([
        { kind: 'stray-record', record: JSON.stringify(['c', '0'.repeat(32)]) },
      ]);
    });
  });

  describe('finds of records', () => {
    it.each(['inline', 'manifest'] as const)('an %s record without its object', async (kind) => {
      const test = await filledLayer();
      await writeRecord(test, recordKeys[kind]('bucket', 'nobody'), Buffer.alloc(20));
      expect(await issues(test)).toMatchObject([{ kind: 'lost-object' }]);
    });

    it('an inline body beside a blob', async () => {
      const test = await filledLayer();
      await writeRecord(test, recordKeys.inline('bucket', 'large'), Buffer.alloc(20));
      expect(await issues(test)).toMatchObject([{ kind: 'stray-record' }]);
    });

    it.each(['inline', 'manifest'] as const)('that the %s record is missing', async (kind) => {
      const test = await filledLayer();
      const name = kind === 'inline' ? 'small' : 'parts';
      await deleteRecord(test, recordKeys[kind]('bucket', name));
      expect(await issues(test)).toContainEqual(expect.objectContaining({ kind: 'missing-body', key: name }));
    });

    it('parts of an upload that is not there, and none of one that ended', async () => {
      const test = await filledLayer();
      await deleteRecord(test, recordKeys.upload('bucket', 'open', test.uploadId));
      expect(await issues(test)).toMatchObject([{ kind: 'lost-object' }]);
      await writeRecord(test, recordKeys.leftovers(test.uploadId), encodeRecord({}));
      expect(await issues(test)).toEqual([]);
    });

    it.each([
      ['a bucket', key('b', 'bucket')],
      ['an object', key('o', 'bucket', 'small')],
      ['canaries of a key', key('k', 'canaries', 'default-key')],
    ])('%s that cannot be read', async (_, record) => {
      const test = await filledLayer();
      for (const value of [
        Buffer.from([9]),
        Buffer.from([1]),
        Buffer.from('\u0001{"a":', 'latin1'),
        Buffer.from('\u0001{}'),
      ]) {
        await writeRecord(test, record, value);
        expect(await issues(test)).toContainEqual(expect.objectContaining({ kind: 'unreadable-record' }));
      }
    });

    it.each(['removal', 'tombstone'] as const)('a %s that cannot be read', async (kind) => {
      const test = await filledLayer();
      await writeRecord(test, recordKeys[kind]('0'.repeat(32) as BlobId), Buffer.from([7]));
      expect(await issues(test)).toMatchObject([{ kind: 'unreadable-record' }]);
    });
  });
});

function byBlob(a: Issue, b: Issue): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

async function* endless(): AsyncGenerator<Buffer> {
  yield Buffer.from('half');
  await Promise.withResolvers<void>().promise;
}

function sumsOf(bytes: Buffer, block?: number): Buffer {
  const sums = new BlockSumsHasher(block);
  sums.update(bytes);
  return encodeBlockSums(sums.digest());
}

async function issues(test: TestLayer, options: Partial<VerifyOptions> = {}): Promise<Issue[]> {
  const { records, blobs } = test;
  return Array.fromAsync(verifyStores({ records, blobs, now: Date.now(), bodies: true, ...options }));
}

async function verified({ records, blobs }: TestLayer): Promise<VerifySummary> {
  const verification = verifyStores({ records, blobs, now: Date.now(), bodies: true });
  for (;;) {
    const { done, value } = await verification.next();
    if (done === true) return value;
  }
}
