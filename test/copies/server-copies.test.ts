import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keyServiceKeys } from '../../server/encryption/key-service-keys.ts';
import { createBatchJobs } from '../../server/maintenance/batch/batch-jobs.ts';
import { batchRounds } from '../../server/maintenance/batch/batch-rounds.ts';
import { unlimited } from '../../server/maintenance/pace.ts';
import type { ObjectInfo, ObjectLayer } from '../../server/objects/contract/object-layer.ts';
import { fetchVersion } from '../../server/replication/fetch-version.ts';
import { sendBody, type Sender, type SentForm } from '../../server/replication/send-body.ts';
import { sendVersion } from '../../server/replication/send-version.ts';
import type { OpenAnswer, TargetRequest } from '../../server/replication/target-client.ts';
import { Bandwidth } from '../../server/replication/bandwidth.ts';
import { tieredLayer } from '../support/objects/tiered-layer.ts';
import { rename, testLayer } from '../support/objects/test-layer.ts';
import { testCalls } from '../support/s3-api/s3-calls.ts';
import { type CopyWay, expectCopy } from './copy-table.ts';
import { attributesByName, type EncryptionName, encryptions, putWhole } from './whole-object.ts';

const names = Object.keys(encryptions) as readonly EncryptionName[];

async function makeBucket(layer: ObjectLayer, bucket: string, locked: boolean, byDefault: EncryptionName = 'none') {
  await layer.createBucket(bucket, { location: '', ...(locked && { objectLock: true }) });
  if (byDefault !== 'none') await layer.putBucketEncryption(bucket, { scheme: byDefault });
}

async function sourceOf(encryption: EncryptionName, locked: boolean, isVersioned = true) {
  const test = testLayer();
  await test.keyService.createKey('own-key');
  await makeBucket(test.layer, 'docs', locked);
  if (isVersioned) await test.layer.putBucketVersioning('docs', { status: 'Enabled' });
  await putWhole(test.layer, 'docs', 'source', { encryption, locked });
  const object = await test.layer.getObject('docs', 'source');
  return { ...test, object, info: object.info };
}

/** Another server, with the bucket `copies`, as a client of replication sees it. */
async function targetOf(locked: boolean, byDefault: EncryptionName, denied?: string) {
  const test = await testCalls({ authorize: ({ action }) => action !== denied });
  await makeBucket(test.layer, 'copies', locked, byDefault);
  if (!locked) await test.layer.putBucketVersioning('copies', { status: 'Enabled' });
  const send = async ({ method, key = '', query = {}, headers = {}, body }: TargetRequest) => {
    const sent = body === undefined || Buffer.isBuffer(body) ? body : Buffer.concat(await Array.fromAsync(body.chunks));
    const target = `/copies/${encodeURIComponent(key)}?${new URLSearchParams(query).toString()}`;
    const answer = await test.call(method, target, { headers, ...(sent && { body: sent }) });
    return { status: answer.status, headers: answer.headers, text: answer.refusal || answer.body };
  };
  const open = async (request: Omit<TargetRequest, 'body'>): Promise<OpenAnswer> => {
    const { status, headers, text } = await send(request);
    return {
      status,
      headers: { ...headers, 'content-length': String(text.length) },
      chunks: (async function* () {
        yield Promise.resolve(Buffer.from(text));
      })(),
      whole: () => Promise.resolve({ status, headers, text }),
      discard: () => Promise.resolve(),
    };
  };
  return { ...test, client: { send, open } };
}

function senderOf(layer: ObjectLayer, { client }: Pick<Awaited<ReturnType<typeof targetOf>>, 'client'>): Sender {
  return {
    objects: layer,
    client,
    targetId: 'target',
    target: { targetBucket: 'copies' },
    bandwidth: new Bandwidth({ limit: 0, signal: new AbortController().signal }),
  };
}

/** On another server the key is its default one. */
function expectSent(way: CopyWay, copy: ObjectInfo, source: ObjectInfo, bucketDefault?: EncryptionName): void {
  const walked = { otherKey: 'default-key', ...(bucketDefault !== undefined && { bucketDefault }) };
  expectCopy(way, attributesByName(source), attributesByName(copy), walked);
}

const kinds: readonly SentForm['kind'][] = ['replica', 'plain', 'copy'];
const sent = kinds.flatMap((kind) =>
  names.flatMap((encryption) =>
    [false, true].flatMap((locked) => names.map((byDefault) => ({ kind, encryption, locked, byDefault }))),
  ),
);

describe('a version that is sent to another server is equal to its source', () => {
  it.each(sent)('as $kind, encryption $encryption, lock $locked, default $byDefault there', async (one) => {
    const { kind, encryption, locked, byDefault } = one;
    const source = await sourceOf(encryption, locked);
    const target = await targetOf(locked, byDefault);
    const { versionId = '' } = source.info;
    await sendBody(senderOf(source.layer, target), source.object, versionId, { targetKey: 'key', kind });
    const copy = await target.layer.headObject('copies', 'key');
    // The mark of a plain copy is beside the metadata.
    const { 'coffer-version-id': mark, ...metadata } = copy.metadata;
    expect(mark !== undefined).toBe(kind === 'plain');
    const way = kind === 'copy' ? 'batch job replicate' : 'replication';
    expectSent(way, { ...copy, metadata }, source.info, byDefault === 'none' ? undefined : byDefault);
  });

  it('and a change of its lock keeps all else there', async () => {
    const source = await sourceOf('SSE-KMS', true);
    const target = await targetOf(true, 'none');
    const { versionId = '' } = source.info;
    const sender = senderOf(source.layer, target);
    await sendBody(sender, source.object, versionId);
    // The version with its legal hold was removed here.
    const legalHoldChanged = Date.now() + 1_000;
    const queued = {
      kind: 'version',
      bucket: 'docs',
      key: 'source',
      versionId,
      legalHold: false,
      legalHoldChanged,
    } as const;
    const gone = { ...source.layer, getObject: () => source.layer.getObject('docs', 'absent') };
    await sendVersion({ ...sender, objects: gone }, queued as unknown as Parameters<typeof sendVersion>[1]);
    const copy = await target.layer.headObject('copies', 'source');
    expect(copy.lock).toEqual({ retention: source.info.lock?.retention, legalHold: false });
    expectSent('replication', { ...copy, lock: source.info.lock }, source.info);
  });
});

describe('a version whose target refuses a part of it is not there', () => {
  it.each(
    kinds.flatMap((kind) =>
      // The right to replicate includes that to set the tags of a replica.
      [
        's3:PutObjectRetention',
        's3:PutObjectLegalHold',
        kind === 'replica' ? 's3:ReplicateObject' : 's3:PutObjectTagging',
      ].map((denied) => ({ kind, denied })),
    ),
  )('as $kind, to a key without $denied', async ({ kind, denied }) => {
    const source = await sourceOf('SSE-KMS', true);
    const target = await targetOf(true, 'none', denied);
    const sent = sendBody(senderOf(source.layer, target), source.object, source.info.versionId ?? '', {
      targetKey: 'key',
      kind,
    });
    await expect(sent).rejects.toThrow(/Access ?Denied/i);
    await expect(target.layer.headObject('copies', 'key')).rejects.toThrow();
  });

  it.each(kinds.flatMap((kind) => ['SSE-S3', 'SSE-KMS'].map((encryption) => ({ kind, encryption }))))(
    'as $kind, encryption $encryption, to a server without keys',
    async ({ kind, encryption }) => {
      const source = await sourceOf(encryption as EncryptionName, false);
      const target = await targetOf(false, 'none');
      target.keyService.keys.clear();
      const sent = sendBody(senderOf(source.layer, target), source.object, source.info.versionId ?? '', {
        targetKey: 'key',
        kind,
      });
      await expect(sent).rejects.toThrow();
      await expect(target.layer.headObject('copies', 'key')).rejects.toThrow();
    },
  );
});

describe('a version that a batch job fetches is equal to its source', () => {
  const fetched = names.flatMap((encryption) =>
    [false, true].flatMap((locked) =>
      [false, true].flatMap((keepsId) => names.map((byDefault) => ({ encryption, locked, keepsId, byDefault }))),
    ),
  );
  const facts = { isLatest: true, deleteMarker: false, size: 7, modified: Date.now(), key: 'key', targetKey: 'copy' };

  it.each(fetched)(
    'encryption $encryption, lock $locked, keeps its id: $keepsId, default $byDefault here',
    async (one) => {
      const { encryption, locked, keepsId, byDefault } = one;
      const other = await targetOf(locked, 'none');
      await other.keyService.createKey('own-key');
      const {
        versionId = 'null',
        etag,
        lastModified,
      } = await putWhole(other.layer, 'copies', 'key', { encryption, locked });
      const here = testLayer();
      await makeBucket(here.layer, 'docs', locked, byDefault);
      if (!locked) await here.layer.putBucketVersioning('docs', { status: 'Enabled' });
      const modified = lastModified.getTime();
      const version = { ...facts, modified, versionId, etag, ...(keepsId && { keptId: versionId }) };
      await fetchVersion({ objects: here.layer, client: other.client, bucket: 'docs' }, version);
      const source = await other.layer.headObject('copies', 'key');
      // A default under a key of the key service is stronger, and holds for what is fetched from SSE-S3.
      const isStronger = encryption === 'SSE-S3' && byDefault === 'SSE-KMS';
      expectSent(
        'batch job replicate',
        await here.layer.headObject('docs', 'copy'),
        isStronger ? { ...source, encryption: { scheme: byDefault, keyName: 'default-key' } } : source,
        byDefault === 'none' ? undefined : byDefault,
      );
    },
  );

  it.each(['s3:GetObjectRetention', 's3:GetObjectLegalHold', 's3:GetObjectTagging'])(
    'is refused where the key of the job lacks %s',
    async (denied) => {
      const test = await testCalls({ authorize: ({ action }) => action !== denied });
      await makeBucket(test.layer, 'copies', true);
      await putWhole(test.layer, 'copies', 'key', { encryption: 'none', locked: true });
      const answer = await test.call('GET', '/copies/key');
      const open = () =>
        Promise.resolve({
          ...answer,
          chunks: (async function* () {
            yield Promise.resolve(Buffer.from(answer.body));
          })(),
          whole: () => Promise.reject(new Error('the answer is no error')),
          discard: () => Promise.resolve(),
        });
      const here = testLayer();
      await makeBucket(here.layer, 'docs', true);
      const client = { open, send: () => Promise.reject(new Error('nothing else is asked')) };
      const version = { ...facts, versionId: 'null', etag: 'e' };
      await expect(fetchVersion({ objects: here.layer, client, bucket: 'docs' }, version)).rejects.toMatchObject({
        code: 'impossible',
        message: expect.stringContaining(denied) as string,
      });
      await expect(here.layer.headObject('docs', 'copy')).rejects.toThrow();
    },
  );
});

type Kind = 'plain' | 'versions' | 'lock';
const kindsOfBucket: readonly Kind[] = ['plain', 'versions', 'lock'];

/** Runs the job of a caller who has no right to a key. Returns the object before and after it. */
async function rotate(encryption: EncryptionName, kind: Kind, byDefault: EncryptionName, denied?: string) {
  const { layer, keyService, records, info } = await sourceOf(encryption, kind === 'lock', kind !== 'plain');
  if (byDefault !== 'none') await layer.putBucketEncryption('docs', { scheme: byDefault });
  await keyService.createKey('new-key');
  const jobs = createBatchJobs({ records, objects: layer, random: randomBytes, clock: Date.now });
  const [type, key] = encryption === 'SSE-S3' ? ['sse-s3', ''] : ['sse-kms', ', key: new-key'];
  const definition = `keyrotate: {apiVersion: v1, bucket: docs, encryption: {type: ${type}${key}}}`;
  await jobs.start(definition, 'ann', { kind: 'user', accessKey: 'ann', conditions: {} });
  const log = { info: () => undefined, warn: () => undefined };
  const round = batchRounds({
    reads: unlimited,
    changesPerSecond: Infinity,
    log,
    clock: Date.now,
    decide: (_, { resource }) => Promise.resolve({ kind: resource === denied ? 'denied' : 'allowed' }),
  });
  const keys = keyServiceKeys(keyService, { defaultKey: 'default-key' });
  await round({ records, objects: layer, keys, signal: new AbortController().signal });
  const copy = await layer.headObject('docs', 'source');
  expect(copy.versionId).toBe(info.versionId);
  return [attributesByName(info), attributesByName(copy)] as const;
}

describe('within the server', () => {
  it.each(names.flatMap((encryption) => names.map((byDefault) => ({ encryption, byDefault }))))(
    'a rename keeps everything, encryption $encryption, default $byDefault',
    async ({ encryption, byDefault }) => {
      const { layer, info } = await sourceOf(encryption, false, false);
      if (byDefault !== 'none') await layer.putBucketEncryption('docs', { scheme: byDefault });
      await layer.renameObject(rename('docs', 'source', 'target'));
      const copy = await layer.headObject('docs', 'target');
      expectCopy('rename on the server', attributesByName(info), attributesByName(copy));
    },
  );

  it.each(
    kindsOfBucket.flatMap((kind) =>
      names.flatMap((encryption) => names.map((byDefault) => ({ encryption, kind, byDefault }))),
    ),
  )(
    'a rotation of keys by a job keeps all but the key, bucket $kind, encryption $encryption, default $byDefault',
    async ({ encryption, kind, byDefault }) => {
      const [before, after] = await rotate(encryption, kind, byDefault);
      expectCopy('batch job keyrotate', before, after, { otherKey: 'new-key' });
    },
  );

  // Without `fromKey` the job is for the objects of all keys.
  it.each(['new-key', '*'])('a rotation without the right to the keys %s changes nothing', async (denied) => {
    const [before, after] = await rotate('SSE-KMS', 'lock', 'none', denied);
    expect(after).toEqual(before);
  });

  it.each(['s3:PutObject', 's3:GetObject', 's3:DeleteObject'])(
    'a rename without the right %s changes nothing',
    async (denied) => {
      const test = await testCalls({ authorize: ({ action }) => action !== denied });
      await makeBucket(test.layer, 'docs', false);
      const source = await putWhole(test.layer, 'docs', 'source', { encryption: 'SSE-S3', locked: false });
      const headers = { 'x-amz-rename-source': '/source' };
      const answer = await test.call('PUT', '/docs/target?renameObject', { headers });
      expect(answer).toMatchObject({ status: 403 });
      await expect(test.layer.headObject('docs', 'target')).rejects.toThrow();
      expect(attributesByName(await test.layer.headObject('docs', 'source'))).toEqual(attributesByName(source));
    },
  );

  it.each(
    kindsOfBucket.flatMap((kind) =>
      names.flatMap((encryption) => names.map((byDefault) => ({ encryption, kind, byDefault }))),
    ),
  )(
    'a move to a tier and a restore keep all but the storage class, bucket $kind, encryption $encryption, default $byDefault',
    async ({ encryption, kind, byDefault }) => {
      const test = tieredLayer();
      test.time.now = Date.now();
      await test.keyService.createKey('own-key');
      await makeBucket(test.layer, 'bucket', kind === 'lock');
      if (kind === 'versions') await test.layer.putBucketVersioning('bucket', { status: 'Enabled' });
      const whole = await putWhole(test.layer, 'bucket', 'key', { encryption, locked: kind === 'lock' });
      // A body that is moved or fetched back is not encrypted anew.
      if (byDefault !== 'none') await test.layer.putBucketEncryption('bucket', { scheme: byDefault });
      expect(await test.move('key', whole.versionId)).toBe(true);
      const expectMoved = (info: ObjectInfo) =>
        expectCopy('tier and its restore', attributesByName(whole), attributesByName(info), { tier: 'COLD' });
      expectMoved(await test.layer.headObject('bucket', 'key'));
      await test.layer.requestRestore({
        bucket: 'bucket',
        key: 'key',
        days: 1,
      });
      await test.work();
      const restored = await test.layer.headObject('bucket', 'key');
      expect(restored.restore).toMatchObject({ ongoing: false });
      expectMoved(restored);
    },
  );
});
