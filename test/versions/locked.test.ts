import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { importBuckets } from '../../server/administration/bucket-archive.ts';
import { copyStores } from '../../server/maintenance/migrate/copy-stores.ts';
import { removeKey } from '../../server/maintenance/rewrap/key-lifecycle.ts';
import { rewrapRound } from '../../server/maintenance/rewrap/rewrap.ts';
import { writeRewrapState } from '../../server/maintenance/rewrap/rewrap-state.ts';
import { sealOldDigests } from '../../server/maintenance/rewrap/seal-old-digests.ts';
import { scrubRound } from '../../server/maintenance/verify/scrub.ts';
import { verifyStores } from '../../server/maintenance/verify/verify-stores.ts';
import { removeOrphanBlobs, removeQueuedBlobs } from '../../server/objects/garbage-collection/garbage-collection.ts';
import { quarantined } from '../../server/objects/operations/quarantine.ts';
import { usageRounds } from '../../server/observability/usage/count-usage.ts';
import { fetchVersion } from '../../server/replication/fetch-version.ts';
import { MemoryBlobStore } from '../../server/store/memory/blob-store.ts';
import { MemoryRecordStore } from '../../server/store/memory/record-store.ts';
import { flipped, LARGE, readBlob, replaceBlob } from '../support/maintenance/filled-layer.ts';
import { RETAINED_UNTIL, versionsOf } from '../support/maintenance/versioned-layer.ts';
import { put, randomBody, readAll, testDigests, testLayer, type TestLayer } from '../support/objects/test-layer.ts';
import { testCalls, type TestCalls } from '../support/s3-api/s3-calls.ts';
import { unlimited } from '../../server/maintenance/pace.ts';

/** Versions that nobody may remove: root tries every way to change what is stored on them. A new way needs a row here. */
const log = createLogger({ name: 'test', level: 'silent' });
const retention = { mode: 'COMPLIANCE', until: RETAINED_UNTIL } as const;
const encrypted = { encryption: { scheme: 'SSE-KMS', keyName: 'old' } } as const;
const [minute, century] = [60_000, 100 * 365 * 86_400_000];

interface Locked {
  readonly key: string;
  readonly versionId: string;
}

let test: TestCalls;
let locked: readonly Locked[];
let before: readonly unknown[];
/** Those of COMPLIANCE. The others have a legal hold alone. */
let retained: readonly Locked[];

beforeEach(async () => {
  test = await testCalls({ layer: { inlineLimit: 1_000 } });
  const { layer, keyService } = test;
  keyService.keys.set('old', Buffer.alloc(32, 1)).set('new', Buffer.alloc(32, 2));
  await layer.createBucket('locked', { location: '', objectLock: true });
  for (const key of ['noncurrent', 'current']) {
    await layer.putObject(put('locked', key, 'small', { lock: { retention } }));
    await layer.putObject(put('locked', key, randomBody(LARGE), { lock: { legalHold: true } }));
    const more = { ...encrypted, tags: { a: 'b' } };
    await layer.putObject(put('locked', key, randomBody(LARGE), { lock: { retention }, ...more }));
    await layer.putObject(put('locked', key, 'small', { lock: { retention }, ...more }));
  }
  await layer.putObjectLockConfiguration('locked', { defaultRetention: { mode: 'COMPLIANCE', days: 400 } });
  await putParts('noncurrent');
  await layer.deleteObject('locked', 'noncurrent');
  await putParts('current');
  locked = (await versionsOf(test, 'locked')).filter(({ deleteMarker }) => !deleteMarker);
  before = await contents(test);
  retained = locked.filter((_, at) => (before[at] as { lock: { retention?: object } }).lock.retention !== undefined);
});

async function putParts(key: string): Promise<void> {
  const { layer } = test;
  const { uploadId } = await layer.createMultipartUpload({ bucket: 'locked', key, headers: { metadata: {} } });
  const { etag } = await layer.putPart({ ...put('locked', key, randomBody(LARGE)), uploadId, partNumber: 1 });
  await layer.completeMultipartUpload({ bucket: 'locked', key, uploadId, parts: [{ partNumber: 1, etag }] });
}

/** What the locked versions are. */
async function contents({ layer }: Pick<TestLayer, 'layer'>): Promise<readonly unknown[]> {
  return Promise.all(
    locked.map(async ({ key, versionId }) => {
      const { info, read } = await layer.getObject('locked', key, { versionId });
      const bytes = await readAll(read({ start: 0, end: info.size }));
      const { etag, lastModified, lock, tags, metadata } = info;
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return { key, versionId, etag, lastModified, lock, tags, metadata, sha256 };
    }),
  );
}

const bypass = { 'x-amz-bypass-governance-retention': 'true' };
const force = { 'x-minio-force-delete': 'true' };
const xml = (root: string, text: string) =>
  `<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${text}</${root}>`;
const document = (content: string) => Buffer.from(content);
const copying = { 'x-amz-copy-source': '/locked/current', 'x-amz-metadata-directive': 'REPLACE' };

async function ofEach(
  method: string,
  parameter: string,
  options: { headers?: Record<string, string>; body?: string },
  versions = locked,
) {
  for (const { key, versionId } of versions) {
    await test.call(method, `/locked/${key}?${parameter}versionId=${versionId}`, options);
  }
}

async function rotate(mode: 'reseal' | 'rewrite'): Promise<void> {
  const { records, keys, layer: objects } = test;
  const state = { from: 'old', to: 'new', mode, objectsPerSecond: 1e6, started: 1, looked: 0, done: 0, failed: 0 };
  await writeRewrapState(records, state, randomBytes);
  await rewrapRound({ records, keys, objects, log });
}

async function importArchive(files: Readonly<Record<string, string>>): Promise<void> {
  const entries = Object.entries(files).map(([name, text]) => ({ name: `locked/${name}`, content: document(text) }));
  await importBuckets(test.layer, entries, {
    only: undefined,
    region: '',
    notificationTargets: [],
    require: () => Promise.resolve(),
    requireAll: () => Promise.resolve(),
  });
}

/** Brings a version of another server without a lock, as a batch job does: with the id of a locked version, or as a new one. */
async function pull(key: string, keptId: string | undefined): Promise<void> {
  const answer = {
    status: 200,
    headers: { 'content-length': '5' },
    chunks: Readable.from([Buffer.from('other')]),
    whole: () => Promise.reject(new Error('the answer is no error')),
    discard: () => Promise.resolve(),
  };
  const client = {
    open: () => Promise.resolve(answer),
    send: () => Promise.reject(new Error('the body is asked for alone')),
  };
  const ofSource = { versionId: 'x', isLatest: true, deleteMarker: false, size: 5, modified: Date.now(), etag: 'e' };
  const version = { ...ofSource, key, targetKey: key, ...(keptId !== undefined && { keptId }) };
  await fetchVersion({ objects: test.layer, client, bucket: 'locked' }, version);
}

const removeOld = () =>
  removeKey({
    records: test.records,
    keyName: 'old',
    defaultKey: 'default-key',
    force: true,
    clock: () => Date.now() + 10 * century,
    remove: () => Promise.resolve(void test.keyService.keys.delete('old')),
    exists: () => Promise.resolve(true),
  });

const shorter = xml('Retention', '<Mode>COMPLIANCE</Mode><RetainUntilDate>2027-01-01T00:00:00Z</RetainUntilDate>');
const governance = xml('Retention', '<Mode>GOVERNANCE</Mode><RetainUntilDate>2110-01-01T00:00:00Z</RetainUntilDate>');
const suspended = xml('VersioningConfiguration', '<Status>Suspended</Status>');
const excluded = xml(
  'VersioningConfiguration',
  '<Status>Enabled</Status><ExcludedPrefixes><Prefix>c</Prefix></ExcludedPrefixes>',
);
const noDefault = xml('ObjectLockConfiguration', '<ObjectLockEnabled>Enabled</ObjectLockEnabled>');

const doors: readonly (readonly [name: string, open: () => Promise<unknown>])[] = [
  ['DeleteObject of the version', () => ofEach('DELETE', '', { headers: bypass })],
  ['DeleteObject of the key', () => test.call('DELETE', '/locked/current', { headers: bypass })],
  [
    'DeleteObjects',
    () => {
      const objects = locked.map(
        ({ key, versionId }) => `<Object><Key>${key}</Key><VersionId>${versionId}</VersionId></Object>`,
      );
      return test.call('POST', '/locked?delete', { headers: bypass, body: xml('Delete', objects.join('')) });
    },
  ],
  ['a force-delete of the key', () => test.call('DELETE', '/locked/current', { headers: { ...bypass, ...force } })],
  ['a force-delete of the bucket', () => test.call('DELETE', '/locked', { headers: { ...bypass, ...force } })],
  ['DeleteBucket', () => test.call('DELETE', '/locked')],
  ['a shorter retention', () => ofEach('PUT', 'retention&', { headers: bypass, body: shorter }, retained)],
  ['no retention', () => ofEach('PUT', 'retention&', { headers: bypass, body: xml('Retention', '') })],
  ['a PUT of the key', () => test.call('PUT', '/locked/current', { body: 'new' })],
  ['a copy onto itself', () => test.call('PUT', '/locked/current', { headers: copying })],
  ['a multipart upload', () => putParts('current')],
  ['suspended versions', () => test.call('PUT', '/locked?versioning', { body: suspended })],
  ['excluded keys', () => test.call('PUT', '/locked?versioning', { body: excluded })],
  ['an object lock without default', () => test.call('PUT', '/locked?object-lock', { body: noDefault })],
  [
    'all of them',
    async () => {
      for (const body of [suspended, excluded]) await test.call('PUT', '/locked?versioning', { body });
      await test.call('PUT', '/locked/current', { body: 'new' });
      await test.call('DELETE', '/locked/current');
    },
  ],
  [
    'an imported archive',
    async () => {
      await importArchive({ 'versioning.xml': suspended, 'object-lock.xml': noDefault });
      await importArchive({ 'versioning.xml': excluded });
      await test.call('PUT', '/locked/current', { body: 'new' });
    },
  ],
  [
    'renames',
    async () => {
      const source = { 'x-amz-rename-source': '/locked/current' };
      const replies = [
        await test.call('PUT', '/locked/other?renameObject', { headers: source }),
        await test.call('PUT', '/locked/current?renameObject', { headers: { 'x-amz-rename-source': '/locked/other' } }),
      ];
      expect(replies.map(({ status }) => status >= 400)).toEqual([true, true]);
    },
  ],
  [
    'a batch job that pulls',
    async () => {
      for (const { key, versionId } of locked) await pull(key, versionId);
      await pull('current', undefined);
      expect((await test.call('GET', '/locked/current')).body).toBe('other');
    },
  ],
  ['another key of the key service', () => rotate('reseal')],
  ['bodies that are written again under another key', () => rotate('rewrite')],
  ['the removal of the key that encrypts them', () => expect(removeOld()).rejects.toThrow('under object lock')],
  ['the scrub', () => scrubRound({ ...test, log, bytesPerSecond: 1e12, everyMs: 0 })],
  ['a verification', () => Array.fromAsync(verifyStores({ ...test, now: Date.now(), bodies: true, graceMs: 0 }))],
  [
    'garbage collection with a clock that is set forward',
    async () => {
      const now = Date.now() + 10 * century;
      await removeQueuedBlobs({ ...test, now, delay: 0 });
      await removeOrphanBlobs({ ...test, now, grace: 0 });
      await removeQueuedBlobs({ ...test, now: now + minute, delay: 0 });
    },
  ],
  ['a count of usage', () => usageRounds({ cycleMs: 1, reads: unlimited, log })(test)],
  ['the sealing of digests', () => sealOldDigests({ ...test, digests: testDigests, hasKeys: true, log })],
];

describe('locked versions', () => {
  it.each(doors)('stay as they are after %s', async (_, open) => {
    await open();
    expect(await contents(test)).toEqual(before);
  });

  it('of a legal hold alone stay where a retention of GOVERNANCE is added and bypassed', async () => {
    await ofEach('PUT', 'retention&', { headers: bypass, body: governance });
    await ofEach('DELETE', '', { headers: bypass });
    const left = (await contents(test)) as readonly { sha256: string }[];
    expect(left.map(({ sha256 }) => sha256)).toEqual((before as typeof left).map(({ sha256 }) => sha256));
  });

  it('stay locked in a copy of the store', async () => {
    const to = { records: new MemoryRecordStore(), blobs: new MemoryBlobStore() };
    await Array.fromAsync(copyStores({ from: test, to, deploymentId: '6f0d9a9e-8f3f-4d49-8f0e-0f6f3cf1a111' }));
    const copy = testLayer({ ...to, keys: test.keys });
    for (const { key, versionId } of locked) {
      const deletion = copy.layer.deleteObject('locked', key, { versionId, bypassGovernance: true });
      await expect(deletion).rejects.toMatchObject({ code: 'AccessDenied' });
    }
    expect(await contents(copy)).toEqual(before);
  });

  it('that are damaged are quarantined, and not removed', async () => {
    const blobs = await Array.fromAsync(test.blobs.list());
    for (const { id } of blobs) await replaceBlob(test, id, flipped(await readBlob(test, id), 1_000));
    await scrubRound({ ...test, log, bytesPerSecond: 1e12, everyMs: 0 });
    expect((await Array.fromAsync(quarantined(test.records))).length).toBe(6);
    await ofEach('DELETE', '', { headers: bypass });
    const left = await versionsOf(test, 'locked');
    expect(left.filter(({ deleteMarker }) => !deleteMarker).map(({ versionId }) => versionId)).toEqual(
      locked.map(({ versionId }) => versionId),
    );
  });
});
