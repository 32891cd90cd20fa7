import { beforeEach, describe, expect, it, vi } from 'vitest';
import { put, readAll, testLayer, type TestLayer } from '../../../test/support/objects/test-layer.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import type { ScanItem, ScanRange } from '../../store/record-store.ts';
import type { ListedVersion } from '../contract/object-layer.ts';

let test: TestLayer;

async function write(text: string, key = 'key'): Promise<string> {
  const info = await test.layer.putObject(put('bucket', key, Buffer.from(text)));
  return info.versionId ?? 'none';
}

async function read(versionId?: string, key = 'key'): Promise<string> {
  try {
    const { info, read: body } = await test.layer.getObject('bucket', key, { versionId });
    return String(await readAll(body({ start: 0, end: info.size })));
  } catch (error) {
    return (error as { code: string }).code;
  }
}

async function list(options: Partial<Parameters<TestLayer['layer']['listObjectVersions']>[0]> = {}) {
  return test.layer.listObjectVersions({
    bucket: 'bucket',
    prefix: '',
    delimiter: '',
    keyMarker: '',
    limit: 1000,
    ...options,
  });
}

const short = ({ key, versionId, isLatest, deleteMarker }: ListedVersion) =>
  `${key} ${versionId}${isLatest ? ' latest' : ''}${deleteMarker ? ' marker' : ''}`;

beforeEach(async () => {
  test = testLayer();
  await test.layer.createBucket('bucket', { location: 'us-east-1' });
});

const enable = () => test.layer.putBucketVersioning('bucket', { status: 'Enabled' });
const suspend = () => test.layer.putBucketVersioning('bucket', { status: 'Suspended' });

/** Runs something before each look at the delete markers, and after each look at the noncurrent versions. */
class InterruptedRecords extends MemoryRecordStore {
  beforeMarkers: () => Promise<unknown> = () => Promise.resolve();
  afterVersions: () => Promise<unknown> = () => Promise.resolve();

  override async *scan(range: ScanRange): AsyncGenerator<ScanItem> {
    const table = String.fromCodePoint(range.start[0] ?? 0);
    if (table === 'l') await this.beforeMarkers();
    yield* super.scan(range);
    if (table === 'v') await this.afterVersions();
  }
}

it('is not deleted while its version becomes current and noncurrent again between the looks at its tables', async () => {
  const records = new InterruptedRecords();
  test = testLayer({ records });
  await test.layer.createBucket('bucket', { location: '' });
  await enable();
  await write('kept');
  let { versionId } = await test.layer.deleteObject('bucket', 'key');
  records.beforeMarkers = () => test.layer.deleteObject('bucket', 'key', { versionId });
  records.afterVersions = async () => {
    records.afterVersions = () => Promise.resolve();
    ({ versionId } = await test.layer.deleteObject('bucket', 'key'));
  };
  await expect(test.layer.deleteBucket('bucket')).rejects.toMatchObject({ code: 'BucketNotEmpty' });
  expect(await read()).toBe('kept');
});

describe('a bucket with versions', () => {
  it('is looked at in one round trip by each write after the first one', async () => {
    await enable();
    await write('first');
    const getAll = vi.spyOn(test.records, 'getAll');
    await write('new', 'other');
    expect(getAll).toHaveBeenCalledTimes(1);
    await suspend();
    await write('null');
    getAll.mockClear();
    await write('null again');
    expect(getAll).toHaveBeenCalledTimes(1);
    expect((await list()).versions.map(({ key }) => key)).toEqual(['key', 'key', 'other']);
  });

  it('keeps each version, newest first, and the object from before as null', async () => {
    expect(await write('null')).toBe('none');
    await enable();
    const first = await write('first');
    const second = await write('second');
    expect(first < second).toBe(true);
    expect([await read(), await read(second), await read(first), await read('null')]).toEqual([
      'second',
      'second',
      'first',
      'null',
    ]);
    expect((await list()).versions.map(short)).toEqual([`key ${second} latest`, `key ${first}`, 'key null']);
  });

  it('hides an object behind a delete marker, and shows it again without the marker', async () => {
    await enable();
    const first = await write('first');
    const marker = await test.layer.deleteObject('bucket', 'key');
    expect(marker).toMatchObject({ deleteMarker: true });
    expect([await read(), await read(first), await read(marker.versionId)]).toEqual([
      'NoSuchKey',
      'first',
      'MethodNotAllowed',
    ]);
    expect((await list()).versions.map(short)).toEqual([`key ${marker.versionId} latest marker`, `key ${first}`]);
    expect(
      (await test.layer.listObjects({ bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 9 })).objects,
    ).toEqual([]);
    await expect(test.layer.deleteBucket('bucket')).rejects.toMatchObject({ code: 'BucketNotEmpty' });
    expect(await test.layer.deleteObject('bucket', 'key', { versionId: marker.versionId })).toMatchObject({
      deleteMarker: true,
    });
    expect(await read()).toBe('first');
    await test.layer.deleteObject('bucket', 'key', { versionId: first });
    await test.layer.deleteBucket('bucket');
  });

  it('makes the newest of the others current when the current one is removed', async () => {
    await write('null');
    await enable();
    const first = await write('first');
    const second = await write('second');
    await test.layer.deleteObject('bucket', 'key', { versionId: second });
    expect(await read()).toBe('first');
    await test.layer.deleteObject('bucket', 'key', { versionId: first });
    expect(await read()).toBe('null');
  });

  it('has one null version while it is suspended', async () => {
    await enable();
    const first = await write('first');
    await suspend();
    expect(await write('one')).toBe('null');
    expect(await write('two')).toBe('null');
    await enable();
    const second = await write('second');
    await suspend();
    expect(await write('three')).toBe('null');
    expect((await list()).versions.map(short)).toEqual(['key null latest', `key ${second}`, `key ${first}`]);
    const deleted = await test.layer.deleteObject('bucket', 'key');
    expect(deleted).toEqual({ versionId: 'null', deleteMarker: true });
    expect((await list()).versions.map(short)).toEqual(['key null latest marker', `key ${second}`, `key ${first}`]);
  });

  it.each([1, 2, 3])(
    'lists all in pages of %i to a client that removes each page before it reads the next',
    async (limit) => {
      await write('null');
      await enable();
      for (let at = 0; at < 4; at += 1) await write(`${at}`);
      await test.layer.deleteObject('bucket', 'key');
      await write('null', 'later');
      let next: { key: string; versionId?: string } | undefined = { key: '' };
      while (next !== undefined) {
        const page = await list({ limit, keyMarker: next.key, versionIdMarker: next.versionId });
        for (const { key, versionId } of page.versions) await test.layer.deleteObject('bucket', key, { versionId });
        next = page.next;
      }
      expect((await list()).versions).toEqual([]);
    },
  );

  it('lists in pages of any size', async () => {
    await write('null', 'a');
    await enable();
    for (const key of ['a', 'b', 'folder/x', 'folder/y', 'z']) {
      for (let at = 0; at < 3; at += 1) await write(`${at}`, key);
    }
    await test.layer.deleteObject('bucket', 'b');
    await suspend();
    await write('null', 'z');
    await enable();
    await write('last', 'z');
    const whole = (await list()).versions.map(short);
    expect(whole).toHaveLength(4 + 4 + 3 + 3 + 5);
    for (let limit = 1; limit < 8; limit += 1) {
      const seen: string[] = [];
      let next: { key: string; versionId?: string } | undefined = { key: '' };
      while (next !== undefined) {
        const page = await list({ limit, keyMarker: next.key, versionIdMarker: next.versionId });
        seen.push(...page.versions.map(short));
        next = page.next;
      }
      expect(seen).toEqual(whole);
    }
    const folded = await list({ delimiter: '/' });
    expect(folded.commonPrefixes).toEqual(['folder/']);
    expect(folded.versions).toHaveLength(4 + 4 + 5);
  });
});
