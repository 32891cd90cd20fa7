import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { parquetReadObjects, parquetSchema, parquetMetadata } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import type { InventoryConfiguration } from '../../../protocol/s3/bucket-inventory.ts';
import { inventoryFields } from '../../../protocol/s3/bucket-inventory.ts';
import { ownerId } from '../../../protocol/s3/acl.ts';
import { body, damageRecord, put, testLayer } from '../../../test/support/objects/test-layer.ts';
import type { ObjectLayer } from '../../objects/contract/object-layer.ts';
import { inventoryRounds } from './inventory-rounds.ts';
import { writeReport } from './write-report.ts';
import { unlimited } from '../pace.ts';

const dayMs = 86_400_000;
/** A Wednesday. */
const start = Date.parse('2026-11-25T10:20:30Z');

async function inventoryLayer() {
  const time = { now: start };
  const logged: object[] = [];
  const log = { info: () => undefined, warn: (fields: object) => void logged.push(fields) };
  const test = testLayer({ clock: () => time.now });
  for (const bucket of ['source', 'reports']) await test.layer.createBucket(bucket, { location: '' });
  const round = inventoryRounds({ dayMs, reads: unlimited, log, clock: () => time.now });
  const report = (objects: ObjectLayer = test.layer, signal = new AbortController().signal) =>
    round({ records: test.records, objects, signal });
  return { ...test, time, report, logged };
}

const configuration = (more: Partial<InventoryConfiguration> = {}): InventoryConfiguration => ({
  id: 'daily',
  enabled: true,
  destination: { bucket: 'reports', prefix: 'of', format: 'CSV' },
  frequency: 'Daily',
  versions: 'Current',
  fields: ['Size', 'ETag'],
  ...more,
});

async function keysOf(layer: ObjectLayer, bucket = 'reports'): Promise<readonly string[]> {
  const { objects } = await layer.listObjects({ bucket, prefix: '', delimiter: '', after: '', limit: 1_000 });
  return objects.map(({ key }) => key);
}

const manifestsOf = async (layer: ObjectLayer) => (await keysOf(layer)).filter((key) => key.endsWith('/manifest.json'));

interface Manifest {
  readonly fileSchema: string;
  readonly fileFormat: string;
  readonly files: readonly { readonly key: string; readonly size: number; readonly MD5checksum: string }[];
}

async function newestManifest(layer: ObjectLayer): Promise<Manifest> {
  const key = (await manifestsOf(layer)).at(-1) ?? '';
  return JSON.parse(String(await body(layer, 'reports', key))) as Manifest;
}

/** The rows of the CSV files of the newest report. */
async function rowsOf(layer: ObjectLayer): Promise<readonly (readonly string[])[]> {
  const { files } = await newestManifest(layer);
  const texts: string[] = [];
  for (const { key } of files) texts.push(String(gunzipSync(await body(layer, 'reports', key))));
  const lines = texts.join('').split('\n').slice(0, -1);
  return lines.map((line) => [...line.matchAll(/"((?:[^"]|"")*)"(?:,|$)/g)].map(([, cell = '']) => cell));
}

describe('a report', () => {
  it('has the layout of AWS', async () => {
    const { layer, report } = await inventoryLayer();
    await layer.putObject(put('source', 'a', '123'));
    await layer.putBucketInventory('source', configuration());
    await report();
    const keys = await keysOf(layer);
    const data = keys.find((key) => key.includes('/data/')) ?? '';
    expect(data).toMatch(/^of\/source\/daily\/data\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.csv\.gz$/);
    expect(keys).toEqual(
      [
        'of/source/daily/2026-11-25T10-20Z/manifest.checksum',
        'of/source/daily/2026-11-25T10-20Z/manifest.json',
        data,
        'of/source/daily/hive/dt=2026-11-25-10-20/symlink.txt',
      ].toSorted(),
    );
    const bytes = await body(layer, 'reports', data);
    const manifest = await body(layer, 'reports', 'of/source/daily/2026-11-25T10-20Z/manifest.json');
    expect(JSON.parse(String(manifest))).toEqual({
      sourceBucket: 'source',
      destinationBucket: 'arn:aws:s3:::reports',
      version: '2016-11-30',
      creationTimestamp: String(start),
      fileFormat: 'CSV',
      fileSchema: 'Bucket, Key, Size, ETag',
      files: [{ key: data, size: bytes.length, MD5checksum: createHash('md5').update(bytes).digest('hex') }],
    });
    const checksum = await body(layer, 'reports', 'of/source/daily/2026-11-25T10-20Z/manifest.checksum');
    expect(String(checksum)).toBe(createHash('md5').update(manifest).digest('hex'));
    const links = await body(layer, 'reports', 'of/source/daily/hive/dt=2026-11-25-10-20/symlink.txt');
    expect(String(links)).toBe(`s3://reports/${data}\n`);
    expect(await rowsOf(layer)).toEqual([['source', 'a', '3', createHash('md5').update('123').digest('hex')]]);
  });

  it('has the MD5 of encrypted objects only where it is encrypted itself', async () => {
    const { layer, report } = await inventoryLayer();
    const md5 = createHash('md5').update('0815').digest('hex');
    const kinds = [undefined, 'SSE-S3', 'SSE-KMS'] as const;
    for (const scheme of kinds)
      await layer.putObject(put('source', `of ${scheme}`, '0815', scheme && { encryption: { scheme } }));
    const random = (await layer.headObject('source', 'of SSE-KMS')).etag;
    const etags = async (more: Partial<InventoryConfiguration>) => {
      await layer.putBucketInventory('source', configuration({ fields: ['ETag'], ...more }));
      await report();
      return (await rowsOf(layer)).map((row) => row.at(-1));
    };
    // Sorted by key: SSE-KMS, SSE-S3, plain.
    expect(await etags({ id: '1' })).toEqual([random, '', md5]);
    const destination = { ...configuration().destination, encryption: { scheme: 'SSE-S3' } } as const;
    expect(await etags({ id: '2', destination })).toEqual([random, md5, md5]);
    await layer.putBucketEncryption('reports', { scheme: 'SSE-KMS' });
    expect(await etags({ id: '3' })).toEqual([random, md5, md5]);
    const { layer: encrypting } = testLayer({ autoEncryption: true });
    await encrypting.createBucket('other', { location: '' });
    expect(await encrypting.encryptsDelivery('other', undefined)).toBe(true);
  });

  it('keeps the digests of its encrypted files for the manifest alone', async () => {
    const { layer } = await inventoryLayer();
    await layer.putObject(put('source', 'a', '1'));
    const options = {
      objects: layer,
      bucket: 'source',
      began: start,
      progress: { files: [], rows: 0 },
      random: () => Buffer.alloc(16, 7),
      passed: () => Promise.resolve(),
      checkpoint: () => Promise.resolve(),
    };
    const destination = { ...configuration().destination, encryption: { scheme: 'SSE-S3' } } as const;
    const { files } = await writeReport({ ...options, configuration: configuration({ destination }) });
    const [{ key, size } = { key: '', size: 0 }] = files;
    // A record has them while the report is written.
    expect(files).toEqual([{ key, size }]);
    const md5 = createHash('md5')
      .update(await body(layer, 'reports', key))
      .digest('hex');
    expect((await newestManifest(layer)).files).toEqual([{ key, size, MD5checksum: md5 }]);
  });

  it('does not keep those of other buckets waiting where a record is damaged, and fails at the end', async () => {
    const made = await inventoryLayer();
    const { layer, report } = made;
    await layer.createBucket('aaa', { location: '' });
    for (const bucket of ['aaa', 'source']) {
      await layer.putObject(put(bucket, 'key', '1'));
      await layer.putBucketInventory(bucket, configuration());
    }
    await damageRecord(made, 'aaa', 'key');
    await expect(report()).rejects.toMatchObject({ code: 'unreadable-record' });
    expect((await rowsOf(layer)).map(([bucket, key]) => [bucket, key])).toEqual([['source', 'key']]);
  });

  it('has all fields, in the order of AWS', async () => {
    const { layer, report } = await inventoryLayer();
    await layer.createBucket('locked', { location: '', objectLock: true });
    const until = new Date(start + dayMs);
    await layer.putObject(
      put('locked', 'a "b", ü', '123', {
        encryption: { scheme: 'SSE-KMS', bucketKey: true },
        lock: { retention: { mode: 'GOVERNANCE', until }, legalHold: true },
        digests: { compute: 'SHA256' },
        headers: { metadata: {}, storageClass: 'REDUCED_REDUNDANCY' },
      }),
    );
    await layer.putBucketInventory('locked', configuration({ versions: 'All', fields: inventoryFields.toReversed() }));
    await report();
    expect((await newestManifest(layer)).fileSchema).toBe(
      'Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, LastModifiedDate, ETag, StorageClass, IsMultipartUploaded, ' +
        'ReplicationStatus, EncryptionStatus, ObjectLockRetainUntilDate, ObjectLockMode, ObjectLockLegalHoldStatus, ' +
        'IntelligentTieringAccessTier, BucketKeyStatus, ChecksumAlgorithm, ObjectAccessControlList, ObjectOwner',
    );
    const [row = []] = await rowsOf(layer);
    const { etag, versionId } = await layer.headObject('locked', 'a "b", ü');
    const acl = row[18] ?? '';
    expect(row).toEqual([
      'locked',
      'a%20%22b%22%2C%20%C3%BC',
      versionId,
      'true',
      'false',
      '3',
      new Date(start).toISOString(),
      etag,
      'REDUCED_REDUNDANCY',
      'false',
      '',
      'SSE-KMS',
      until.toISOString(),
      'GOVERNANCE',
      'On',
      '',
      'ENABLED',
      'SHA256',
      acl,
      ownerId,
    ]);
    expect(JSON.parse(String(Buffer.from(acl, 'base64')))).toEqual({
      version: '2022-11-10',
      status: 'AVAILABLE',
      grants: [{ canonicalId: ownerId, type: 'CanonicalUser', permission: 'FULL_CONTROL' }],
    });
  });

  it('of all versions has noncurrent ones and delete markers, and an empty ID for the null version', async () => {
    const { layer, report, time } = await inventoryLayer();
    await layer.putObject(put('source', 'a', '1'));
    await layer.putBucketVersioning('source', { status: 'Enabled' });
    time.now += 1_000;
    const { versionId } = await layer.putObject(put('source', 'a', '22'));
    time.now += 1_000;
    const marker = await layer.deleteObject('source', 'a');
    await layer.putBucketInventory('source', configuration({ versions: 'All', fields: ['Size', 'StorageClass'] }));
    await report();
    expect(await rowsOf(layer)).toEqual([
      ['source', 'a', marker.versionId, 'true', 'true', '', ''],
      ['source', 'a', versionId, 'false', 'false', '2', 'STANDARD'],
      ['source', 'a', '', 'false', 'false', '1', 'STANDARD'],
    ]);
    await layer.putBucketInventory('source', configuration());
    await report();
    expect(await rowsOf(layer)).toEqual([]);
  });

  it('has the keys of its prefix alone', async () => {
    const { layer, report } = await inventoryLayer();
    for (const key of ['a/1', 'b/1', 'b/2', 'c']) await layer.putObject(put('source', key, ''));
    await layer.putBucketInventory('source', configuration({ prefix: 'b/', fields: [] }));
    await report();
    expect(await rowsOf(layer)).toEqual([
      ['source', 'b/1'],
      ['source', 'b/2'],
    ]);
  });

  it('of an empty bucket has no file', async () => {
    const { layer, report } = await inventoryLayer();
    await layer.putBucketInventory('source', configuration());
    await report();
    expect((await newestManifest(layer)).files).toEqual([]);
  });

  it('in Parquet has the types of AWS', async () => {
    const { layer, report } = await inventoryLayer();
    const keys = Array.from({ length: 1_200 }, (_, at) => `k ${String(at).padStart(5, '0')}`);
    for (const key of keys) await layer.putObject(put('source', key, key));
    await layer.putBucketInventory(
      'source',
      configuration({
        destination: { bucket: 'reports', format: 'Parquet' },
        versions: 'All',
        fields: [...inventoryFields],
      }),
    );
    await report();
    const manifest = await newestManifest(layer);
    expect(manifest.fileSchema).toContain(
      'message s3.inventory { required binary bucket (UTF8); required binary key (UTF8); optional binary version_id (UTF8); ' +
        'optional boolean is_latest; optional boolean is_delete_marker; optional int64 size; ' +
        'optional int64 last_modified_date (TIMESTAMP_MILLIS); optional binary e_tag (UTF8);',
    );
    const [{ key } = { key: '' }] = manifest.files;
    expect(key).toMatch(/^source\/daily\/data\/.*\.parquet$/);
    const bytes = await body(layer, 'reports', key);
    const file = new Uint8Array(bytes).buffer;
    expect(parquetSchema(parquetMetadata(file)).element.name).toBe('s3.inventory');
    const rows = await parquetReadObjects({ file });
    expect(rows.map((row) => row['key'])).toEqual(keys);
    expect(rows[7]).toMatchObject({
      bucket: 'source',
      version_id: null,
      is_latest: true,
      size: 7n,
      last_modified_date: new Date(start),
      encryption_status: 'NOT-SSE',
      object_lock_mode: null,
    });
  });

  it('is encrypted as the configuration says', async () => {
    const { layer, report } = await inventoryLayer();
    await layer.putObject(put('source', 'a', '1'));
    const destination = {
      bucket: 'reports',
      format: 'CSV',
      encryption: { scheme: 'SSE-KMS', keyName: 'default-key' },
    } as const;
    await layer.putBucketInventory('source', configuration({ destination }));
    await report();
    const keys = await keysOf(layer);
    expect(keys).toHaveLength(4);
    for (const key of keys) {
      expect((await layer.headObject('reports', key)).encryption).toMatchObject({
        scheme: 'SSE-KMS',
        keyName: 'default-key',
      });
    }
  });

  it('goes on after its last file, without a row twice', async () => {
    const { layer } = await inventoryLayer();
    const keys = Array.from({ length: 2_500 }, (_, at) => String(at).padStart(5, '0'));
    for (const key of keys) await layer.putObject(put('source', key, ''));
    const options = {
      objects: layer,
      bucket: 'source',
      configuration: configuration({ fields: [] }),
      began: start,
      random: (size: number) => Buffer.from(Array.from({ length: size }, () => Math.trunc(Math.random() * 256))),
      limits: { rows: 1_000, bytes: Infinity },
    };
    let reached: Parameters<typeof writeReport>[0]['progress'] = { files: [], rows: 0 };
    await expect(
      writeReport({
        ...options,
        progress: reached,
        passed: () => (reached.files.length === 2 ? Promise.reject(new Error('the server stops')) : Promise.resolve()),
        checkpoint: async (progress) => {
          reached = await Promise.resolve(progress);
        },
      }),
    ).rejects.toThrow('the server stops');
    expect(reached.rows).toBe(2_000);
    const done = await writeReport({
      ...options,
      progress: reached,
      passed: () => Promise.resolve(),
      checkpoint: () => Promise.resolve(),
    });
    expect(done.files).toHaveLength(3);
    expect((await rowsOf(layer)).map(([, key]) => key)).toEqual(keys);
  });
});

const policy = (principal: unknown, condition: object = {}) =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Deny',
        Principal: principal,
        Action: 's3:PutObject',
        Resource: 'arn:aws:s3:::reports/of/*',
        Condition: condition,
      },
    ],
  });

describe('the policy of the destination', () => {
  it('that denies everyone denies the report, which comes within an hour after the policy is gone', async () => {
    const { layer, report, logged, time } = await inventoryLayer();
    await layer.putBucketInventory('source', configuration());
    await layer.putBucketPolicy('reports', policy('*'));
    await report();
    expect(await keysOf(layer)).toEqual([]);
    expect(logged).toMatchObject([{ bucket: 'source', inventory: 'daily', destination: 'reports' }]);
    await layer.deleteBucketPolicy('reports');
    await report();
    expect(await keysOf(layer)).toEqual([]);
    time.now += dayMs / 24;
    await report();
    expect(await manifestsOf(layer)).toHaveLength(1);
  });

  it.each<[string, unknown, object]>([
    ['a user', { AWS: ['ann'] }, {}],
    ['requests without TLS', '*', { Bool: { 'aws:SecureTransport': 'false' } }],
    ['objects without encryption', '*', { Null: { 's3:x-amz-server-side-encryption': 'true' } }],
  ])('that denies %s does not deny the report', async (_what, principal, condition) => {
    const { layer, report } = await inventoryLayer();
    const destination = { ...configuration().destination, encryption: { scheme: 'SSE-S3' } } as const;
    await layer.putBucketInventory('source', configuration({ destination }));
    await layer.putBucketPolicy('reports', policy(principal, condition));
    await report();
    expect(await manifestsOf(layer)).toHaveLength(1);
  });
});

describe('the time of a report', () => {
  it('is once a day, and again when the configuration changes', async () => {
    const { layer, report, time } = await inventoryLayer();
    await layer.putBucketInventory('source', configuration());
    const counts: number[] = [];
    const after = async (ms: number) => {
      time.now += ms;
      await report();
      counts.push((await manifestsOf(layer)).length);
    };
    await after(0);
    await after(60_000);
    await after(dayMs);
    await layer.putBucketInventory('source', configuration({ fields: [] }));
    await after(60_000);
    await layer.putBucketInventory('source', configuration({ fields: [], enabled: false }));
    await after(2 * dayMs);
    expect(counts).toEqual([1, 1, 2, 3, 3]);
  });

  it('is on Sunday, for a week', async () => {
    const { layer, report, time } = await inventoryLayer();
    await layer.putBucketInventory('source', configuration({ frequency: 'Weekly' }));
    for (let day = 0; day < 14; day += 1) {
      await report();
      time.now += dayMs;
    }
    expect((await manifestsOf(layer)).map((key) => key.split('/')[3])).toEqual([
      '2026-11-25T10-20Z',
      '2026-11-29T10-20Z',
      '2026-12-06T10-20Z',
    ]);
  });

  it('of a configuration that was deleted is forgotten', async () => {
    const { layer, report } = await inventoryLayer();
    await layer.putBucketInventory('source', configuration());
    await report();
    await layer.deleteBucketInventory('source', 'daily');
    await report();
    await layer.putBucketInventory(
      'source',
      configuration({ id: 'daily', destination: { ...configuration().destination, prefix: 'new' } }),
    );
    await report();
    expect((await manifestsOf(layer)).filter((key) => key.startsWith('new/'))).toHaveLength(1);
  });
});
