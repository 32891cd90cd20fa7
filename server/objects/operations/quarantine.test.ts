import { randomBytes } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import type { Chunks } from '../../streams/chunks.ts';
import { MemoryBlobStore } from '../../store/memory/blob-store.ts';
import type { DamageEvent } from '../contract/damage-event.ts';
import { commitOnce } from '../../store/commits.ts';
import { within } from '../../store/keys.ts';
import { quarantine, quarantined, release } from './quarantine.ts';
import { recordKeys, versionOrder } from '../records/record-format.ts';
import {
  body,
  put,
  randomBody,
  readAll,
  testLayer,
  type TestLayer,
  chunks,
} from '../../../test/support/objects/test-layer.ts';

const damage = { found: 1_000, what: 'a test' };
const place = { bucket: 'bucket', key: 'key' };
const refusal = { code: 'InternalError', message: expect.stringContaining('damaged') };

describe('a quarantined object', () => {
  it('is not served, not described, and not copied', async () => {
    const { layer } = await marked();
    await expect(layer.getObject('bucket', 'key')).rejects.toMatchObject(refusal);
    await expect(layer.headObject('bucket', 'key')).rejects.toMatchObject(refusal);
    const copy = { ...place, key: 'copy', source: place, headers: { metadata: {} } };
    await expect(layer.copyObject(copy as never)).rejects.toMatchObject(refusal);
  });

  it('is listed as damaged', async () => {
    const { layer, records } = await marked();
    const { objects } = await layer.listObjects({ bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 10 });
    expect(objects).toMatchObject([{ key: 'key', damage }]);
    expect(await Array.fromAsync(quarantined(records))).toEqual([{ ...place, ...damage }]);
  });

  it('is healed by overwriting it', async () => {
    const { layer, records } = await marked();
    await layer.putObject(put('bucket', 'key', 'new'));
    expect((await body(layer, 'bucket', 'key')).toString()).toBe('new');
    expect(await Array.fromAsync(quarantined(records))).toEqual([]);
  });

  it('is healed by deleting it', async () => {
    const { layer, records } = await marked();
    await layer.deleteObject('bucket', 'key');
    await expect(layer.getObject('bucket', 'key')).rejects.toMatchObject({ code: 'NoSuchKey' });
    expect(await Array.fromAsync(quarantined(records))).toEqual([]);
  });

  it.each(['overwritten', 'deleted'])('can be %s although its manifest is gone', async (how) => {
    const test = await withParts();
    await commitOnce(test.records, { delete: [recordKeys.manifest('bucket', 'key')] }, randomBytes);
    await mark(test);
    if (how === 'deleted') await test.layer.deleteObject('bucket', 'key');
    else await test.layer.putObject(put('bucket', 'key', 'new'));
    expect(await Array.fromAsync(quarantined(test.records))).toEqual([]);
  });

  it('is served again when it was found whole', async () => {
    const { layer, records } = await marked();
    const entry = await records.get(recordKeys.object('bucket', 'key'));
    expect(entry && (await release(records, place, entry, randomBytes))).toBe(true);
    expect(await body(layer, 'bucket', 'key')).toHaveLength(300_000);
    expect(await Array.fromAsync(records.scan(within('d')))).toEqual([]);
  });

  it('was not overwritten meanwhile', async () => {
    const { layer, records } = await stored(300_000);
    const entry = await records.get(recordKeys.object('bucket', 'key'));
    await layer.putObject(put('bucket', 'key', 'new'));
    expect(entry && (await quarantine(records, place, entry, damage, randomBytes))).toBe(false);
    expect((await body(layer, 'bucket', 'key')).toString()).toBe('new');
  });
});

describe('a read', () => {
  it.each([100, 300_000])('that finds %i bytes damaged quarantines them', async (size) => {
    const { layer, records, blobs } = await stored(size);
    if (size === 100) {
      const inline = recordKeys.inline('bucket', 'key');
      const value = Buffer.from((await records.get(inline))?.value ?? []);
      value[50] = (value[50] ?? 0) ^ 1;
      await commitOnce(records, { put: [{ key: inline, value }] }, randomBytes);
    } else {
      for (const { id } of await Array.fromAsync(blobs.list())) {
        await blobs.remove(id);
        await blobs.write(id, chunks(randomBody(size), 65_536));
      }
    }
    await expect(body(layer, 'bucket', 'key')).rejects.toThrow('damaged');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await Array.fromAsync(quarantined(records))).toMatchObject([place]);
    await expect(layer.getObject('bucket', 'key')).rejects.toMatchObject(refusal);
  });

  it('that finds the blob missing does not', async () => {
    const { layer, records, blobs } = await stored(300_000);
    for await (const { id } of blobs.list()) await blobs.remove(id);
    await expect(body(layer, 'bucket', 'key')).rejects.toThrow('missing');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await Array.fromAsync(quarantined(records))).toEqual([]);
  });
});

describe('one wrong answer of the blob store', () => {
  it.each([
    ['plain', {}],
    ['encrypted', { headers: { metadata: {}, sse: { algorithm: 'AES256' as const } } }],
  ])('fails a read of a %s object, and does not quarantine it', async (_what, more) => {
    const blobs = new MemoryBlobStore();
    const events: DamageEvent[] = [];
    const test = testLayer({ blobs, onDamage: (event) => events.push(event) });
    await test.layer.createBucket('bucket', { location: '' });
    await test.layer.putObject(put('bucket', 'key', randomBody(300_000), more));
    const read = blobs.read.bind(blobs);
    let wrong = 1;
    Object.assign(blobs, { renew: () => Promise.resolve() });
    blobs.read = (id, range) => (wrong-- > 0 ? flipped(read(id, range)) : read(id, range));
    await expect(body(test.layer, 'bucket', 'key')).rejects.toThrow('damaged');
    await vi.waitFor(() => expect(events).toMatchObject([{ kind: 'read-again', ...place }]));
    expect(await Array.fromAsync(quarantined(test.records))).toEqual([]);
    expect(await body(test.layer, 'bucket', 'key')).toHaveLength(300_000);
  });

  it('is read again over new connections', async () => {
    const blobs = new MemoryBlobStore();
    const test = testLayer({ blobs });
    await test.layer.createBucket('bucket', { location: '' });
    await test.layer.putObject(put('bucket', 'key', randomBody(300_000)));
    const read = blobs.read.bind(blobs);
    const renew = vi.fn(() => Promise.resolve());
    Object.assign(blobs, { renew });
    blobs.read = (id, range) => (renew.mock.calls.length === 0 ? flipped(read(id, range)) : read(id, range));
    await expect(body(test.layer, 'bucket', 'key')).rejects.toThrow('damaged');
    await vi.waitFor(() => expect(renew).toHaveBeenCalledOnce());
    expect(await body(test.layer, 'bucket', 'key')).toHaveLength(300_000);
  });
});

describe('a request for a quarantined object', () => {
  it('is refused, has the object checked, and the next one is served where it is whole', async () => {
    const events: DamageEvent[] = [];
    const test = testLayer({ onDamage: (event) => events.push(event) });
    await test.layer.createBucket('bucket', { location: '' });
    await test.layer.putObject(put('bucket', 'key', randomBody(300_000)));
    await mark(test);
    await expect(test.layer.getObject('bucket', 'key')).rejects.toMatchObject(refusal);
    await vi.waitFor(() => expect(events).toMatchObject([{ kind: 'released', ...place, what: 'a test' }]));
    expect(await body(test.layer, 'bucket', 'key')).toHaveLength(300_000);
    expect(await Array.fromAsync(quarantined(test.records))).toEqual([]);
  });

  it('does not release what is damaged, nor read it again within a minute', async () => {
    const test = testLayer({ clock: () => 1_000 });
    await test.layer.createBucket('bucket', { location: '' });
    await test.layer.putObject(put('bucket', 'key', randomBody(300_000)));
    await mark(test);
    for (const { id } of await Array.fromAsync(test.blobs.list())) {
      await test.blobs.remove(id);
      await test.blobs.write(id, chunks(randomBody(300_000), 65_536));
    }
    const reads = vi.spyOn(test.blobs, 'read');
    for (let round = 0; round < 3; round += 1) {
      await expect(test.layer.getObject('bucket', 'key')).rejects.toMatchObject(refusal);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(reads).toHaveBeenCalledOnce();
    expect(await Array.fromAsync(quarantined(test.records))).toHaveLength(1);
  });
});

describe('a quarantined version', () => {
  it('is listed with its id and stays so where it moves, and no other version is refused', async () => {
    const { layer, records } = await withVersions(300_000);
    const [newest, older] = await versionIds(layer);
    await markVersion(records, older ?? '');
    expect(await Array.fromAsync(quarantined(records))).toMatchObject([{ ...place, ...damage, versionId: older }]);
    await expect(layer.headObject('bucket', 'key', { versionId: older })).rejects.toMatchObject(refusal);
    expect(await body(layer, 'bucket', 'key')).toHaveLength(300_000);
    await layer.deleteObject('bucket', 'key', { versionId: newest });
    const [current] = await Array.fromAsync(quarantined(records));
    expect(current).toEqual({ ...place, ...damage, versionId: older });
    await expect(layer.headObject('bucket', 'key')).rejects.toMatchObject(refusal);
    await layer.deleteObject('bucket', 'key', { versionId: older });
    expect(await Array.fromAsync(quarantined(records))).toEqual([]);
  });

  it('is served again when it was found whole', async () => {
    const { layer, records } = await withVersions(300_000);
    const [, older = ''] = await versionIds(layer);
    const noncurrent = await markVersion(records, older);
    const entry = await records.get(recordKeys.version('bucket', 'key', noncurrent.order));
    expect(entry && (await release(records, noncurrent, entry, randomBytes))).toBe(true);
    await expect(layer.getObject('bucket', 'key', { versionId: older })).resolves.toBeDefined();
    expect(await Array.fromAsync(records.scan(within('d')))).toEqual([]);
  });

  it('can be overwritten in a bucket with versions although its bytes are gone', async () => {
    const { layer, records } = await withVersions(100);
    const entry = await records.get(recordKeys.object('bucket', 'key'));
    if (entry !== undefined) await quarantine(records, place, entry, damage, randomBytes);
    await commitOnce(records, { delete: [recordKeys.inline('bucket', 'key')] }, randomBytes);
    await layer.putObject(put('bucket', 'key', 'new'));
    expect((await body(layer, 'bucket', 'key')).toString()).toBe('new');
    expect(await Array.fromAsync(quarantined(records))).toMatchObject([{ versionId: expect.any(String) }]);
  });

  it.each(['current', 'noncurrent'] as const)(
    'is quarantined by a read of it by its id, where it is %s',
    async (at) => {
      const { layer, records, blobs } = await withVersions(300_000);
      const versions = await versionIds(layer);
      const versionId = versions[at === 'current' ? 0 : 1] ?? '';
      for (const { id } of await Array.fromAsync(blobs.list())) {
        await blobs.remove(id);
        await blobs.write(id, chunks(randomBody(300_000), 65_536));
      }
      const { info, read } = await layer.getObject('bucket', 'key', { versionId });
      await expect(readAll(read({ start: 0, end: info.size }))).rejects.toThrow('damaged');
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await Array.fromAsync(quarantined(records))).toMatchObject([{ ...place, versionId }]);
    },
  );

  it('is found in pages that end between the versions of a key', async () => {
    const { layer, records } = await withVersions(10);
    for (const versionId of (await versionIds(layer)).slice(1)) await markVersion(records, versionId);
    const all = await Array.fromAsync(quarantined(records));
    expect(all).toHaveLength(2);
    expect(await Array.fromAsync(quarantined(records, all[0], 10))).toEqual(all.slice(1));
  });
});

/** Three versions of an object of this size. */
async function withVersions(size: number): Promise<TestLayer> {
  const test = await stored(size);
  await test.layer.putBucketVersioning('bucket', { status: 'Enabled' });
  for (let index = 0; index < 2; index += 1) await test.layer.putObject(put('bucket', 'key', randomBody(size)));
  return test;
}

/** The newest first. */
async function versionIds(layer: TestLayer['layer']): Promise<readonly string[]> {
  const all = { bucket: 'bucket', prefix: '', delimiter: '', keyMarker: '', limit: 10 };
  return (await layer.listObjectVersions(all)).versions.map(({ versionId }) => versionId);
}

async function markVersion(records: TestLayer['records'], versionId: string) {
  const order = versionOrder(versionId === 'null' ? undefined : versionId);
  const noncurrent = { ...place, order };
  const entry = await records.get(recordKeys.version('bucket', 'key', order));
  if (entry === undefined || !(await quarantine(records, noncurrent, entry, damage, randomBytes)))
    throw new Error('no mark');
  return noncurrent;
}

async function stored(size: number): Promise<TestLayer> {
  const test = testLayer();
  await test.layer.createBucket('bucket', { location: '' });
  await test.layer.putObject(put('bucket', 'key', randomBody(size)));
  return test;
}

async function withParts(): Promise<TestLayer> {
  const test = testLayer();
  const { layer } = test;
  await layer.createBucket('bucket', { location: '' });
  const { uploadId } = await layer.createMultipartUpload({ ...place, headers: { metadata: {} } });
  const { etag } = await layer.putPart({ ...put('bucket', 'key', 'part'), uploadId, partNumber: 1 });
  await layer.completeMultipartUpload({ ...place, uploadId, parts: [{ partNumber: 1, etag }] });
  return test;
}

async function mark({ records }: TestLayer): Promise<void> {
  const entry = await records.get(recordKeys.object('bucket', 'key'));
  if (entry === undefined || !(await quarantine(records, place, entry, damage, randomBytes)))
    throw new Error('no mark');
}

async function marked(): Promise<TestLayer> {
  const test = await stored(300_000);
  await mark(test);
  return test;
}

/** The chunks with one bit changed in the first. */
function flipped(source: Chunks): Chunks {
  let first = true;
  return {
    ownership: source.ownership,
    async next() {
      const chunk = await source.next();
      if (!first || chunk === undefined) return chunk;
      first = false;
      const copy = Buffer.from(chunk);
      copy[20] = (copy[20] ?? 0) ^ 1;
      return copy;
    },
    close: () => source.close(),
  };
}
