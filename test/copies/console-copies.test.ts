import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TransferList, TransferRow } from '../../protocol/console/transfer-answers.ts';
import { copyVersion, copyWithHeaders, type SendS3 } from '../../console/src/api/copies.ts';
import type { ErrorAnswer, ObjectDetails } from '../../protocol/console/answers.ts';
import { headerText } from '../../console/src/text/encoded-words.ts';
import { CustomerKey } from '../../server/encryption/object-key.ts';
import type { ObjectInfo } from '../../server/objects/contract/object-layer.ts';
import { TestBrowser, TestConsole } from '../support/console/test-console.ts';
import { put } from '../support/objects/test-layer.ts';
import { type CopyWay, expectCopy } from './copy-table.ts';
import { attributesByName, type EncryptionName, encryptions, putWhole } from './whole-object.ts';

let console: TestConsole;
let root: TestBrowser;

beforeEach(async () => {
  console = await TestConsole.start();
  root = new TestBrowser(console.url);
  await root.signIn();
  await console.stores.keyService.createKey('own-key');
});
afterEach(() => console.close());

type Kind = 'plain' | 'versions' | 'lock';
const kinds: readonly Kind[] = ['plain', 'versions', 'lock'];
const names = Object.keys(encryptions) as readonly EncryptionName[];

async function makeBucket(bucket: string, kind: Kind, byDefault: EncryptionName): Promise<void> {
  const { layer } = console.stores;
  await layer.createBucket(bucket, { location: '', ...(kind === 'lock' && { objectLock: true }) });
  if (kind === 'versions') await layer.putBucketVersioning(bucket, { status: 'Enabled' });
  if (byDefault === 'none') return;
  await layer.putBucketEncryption(bucket, {
    scheme: byDefault,
    ...(byDefault === 'SSE-KMS' && { keyName: 'own-key' }),
  });
}

/** The calls of the page. */
function senderOf(browser: TestBrowser): SendS3 {
  return async (method, bucket, { key, query = {}, headers }) => {
    const parameters = new URLSearchParams({ key });
    for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, value);
    const response = await browser.send(method, `/api/s3/${bucket}?${parameters.toString()}`, {
      headers: { ...headers },
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(text === '' ? String(response.status) : (JSON.parse(text) as ErrorAnswer).message);
    // A copy may fail after its status 200.
    if (method === 'PUT') expect(text).toContain('<CopyObjectResult');
    return Object.fromEntries(response.headers);
  };
}

/** A way of the console to make a copy of `docs/source`. It resolves with the place of the copy, and rejects with the refusal. */
interface Way {
  readonly column: CopyWay;
  readonly kinds: readonly Kind[];
  readonly run: (
    browser: TestBrowser,
    source: ObjectInfo,
  ) => Promise<{ readonly bucket: string; readonly key: string }>;
}

async function transfer(browser: TestBrowser, form: object): Promise<void> {
  const whole = { kind: 'copy', bucket: 'docs', objects: ['source'], folders: [], replace: false, ...form };
  const started = await browser.send('POST', '/api/transfers', { json: whole });
  expect(started.status).toBe(201);
  const newest = async () =>
    ((await (await browser.send('GET', '/api/transfers')).json()) as TransferList).transfers[0] as TransferRow;
  await expect.poll(newest, { timeout: 180_000, interval: 10 }).not.toMatchObject({ state: 'running' });
  const { failed } = await newest();
  if (failed[0] !== undefined) throw new Error(failed[0].message);
}

const ways: Readonly<Record<string, Way>> = {
  'Edit metadata': {
    column: 'console: edit metadata',
    kinds,
    async run(browser) {
      const details = await browser.send('GET', '/api/buckets/docs/object?key=source');
      if (!details.ok) throw new Error(((await details.json()) as ErrorAnswer).message);
      const object = (await details.json()) as ObjectDetails;
      await copyWithHeaders(senderOf(browser), { bucket: 'docs', key: 'source' }, object, {
        content: {
          'content-type': object.contentType ?? '',
          'content-encoding': object.contentEncoding ?? '',
          'content-disposition': object.contentDisposition ?? '',
          'content-language': object.contentLanguage ?? '',
          'cache-control': object.cacheControl ?? '',
        },
        metadata: Object.fromEntries(Object.entries(object.metadata).map(([name, value]) => [name, headerText(value)])),
      });
      return { bucket: 'docs', key: 'source' };
    },
  },
  'Restore and rewind': {
    column: 'console: restore, rewind',
    kinds: ['versions', 'lock'],
    async run(browser, { versionId }) {
      await console.stores.layer.putObject(put('docs', 'source', 'newer'));
      await copyVersion(senderOf(browser), { bucket: 'docs', key: 'source', versionId });
      return { bucket: 'docs', key: 'source' };
    },
  },
  Copy: {
    column: 'console: copy, move, rename',
    kinds,
    async run(browser) {
      await transfer(browser, { target: { bucket: 'other', prefix: 'in/' } });
      return { bucket: 'other', key: 'in/source' };
    },
  },
  Move: {
    column: 'console: copy, move, rename',
    kinds,
    async run(browser) {
      await transfer(browser, { kind: 'move', target: { bucket: 'other', prefix: 'in/' } });
      return { bucket: 'other', key: 'in/source' };
    },
  },
  Rename: {
    column: 'console: copy, move, rename',
    kinds,
    async run(browser) {
      await transfer(browser, { kind: 'rename', target: { bucket: 'docs', prefix: '' }, rename: 'target' });
      return { bucket: 'docs', key: 'target' };
    },
  },
};

const cases = Object.entries(ways).flatMap(([name, way]) =>
  way.kinds.flatMap((kind) =>
    names.flatMap((encryption) => names.map((byDefault) => ({ name, way, kind, encryption, byDefault }))),
  ),
);

async function prepare(kind: Kind, encryption: EncryptionName, byDefault: EncryptionName): Promise<ObjectInfo> {
  await makeBucket('docs', kind, 'none');
  const { versionId } = await putWhole(console.stores.layer, 'docs', 'source', { encryption, locked: kind === 'lock' });
  if (byDefault !== 'none') await console.stores.layer.putBucketEncryption('docs', { scheme: byDefault });
  await makeBucket('other', kind, byDefault);
  return console.stores.layer.headObject('docs', 'source', { versionId });
}

describe('a copy by the console is equal to its source', () => {
  it.each(cases)(
    '$name in a bucket ($kind, default $byDefault) of an object with encryption $encryption',
    async ({ way, kind, encryption, byDefault }) => {
      const source = await prepare(kind, encryption, byDefault);
      const { bucket, key } = await way.run(root, source);
      const copy = await console.stores.layer.headObject(bucket, key);
      expectCopy(way.column, attributesByName(source), attributesByName(copy), {
        ...(byDefault !== 'none' && { bucketDefault: byDefault }),
      });
      if (kind !== 'plain') expect(copy.versionId).not.toBe(source.versionId);
    },
  );
});

describe('an object under the key of a client', () => {
  it.each(Object.entries(ways))('%s is refused by name', async (_, way) => {
    await makeBucket('docs', 'versions', 'none');
    await makeBucket('other', 'versions', 'none');
    const encryption = { scheme: 'SSE-C', customerKey: new CustomerKey(Buffer.alloc(32, 1)) } as const;
    const source = await console.stores.layer.putObject(put('docs', 'source', 'content', { encryption }));
    await expect(way.run(root, source)).rejects.toThrow('SSE-C');
    await expect(console.stores.layer.headObject('other', 'in/source')).rejects.toThrow();
  });
});

function userWithout(action: string, more: object = {}): Promise<TestBrowser> {
  return userWith([
    { Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::*' },
    { Effect: 'Deny', Action: action, Resource: 'arn:aws:s3:::*', ...more },
  ]);
}

async function userWith(Statement: readonly object[]): Promise<TestBrowser> {
  await console.identities.putPolicy('limited', JSON.stringify({ Version: '2012-10-17', Statement }));
  await console.identities.putUser({ accessKey: 'ann', secretKey: 'ann-secret' });
  await console.identities.setAttached({ kind: 'user', name: 'ann' }, ['limited']);
  const browser = new TestBrowser(console.url);
  await browser.signIn({ accessKey: 'ann', secretKey: 'ann-secret' });
  return browser;
}

const ownKey = { StringEquals: { 's3:x-amz-server-side-encryption-aws-kms-key-id': 'own-key' } };
const refusals: readonly { readonly right: string; readonly action: string; readonly condition?: object }[] = [
  { right: 'to set a retention', action: 's3:PutObjectRetention' },
  { right: 'to set a legal hold', action: 's3:PutObjectLegalHold' },
  { right: 'to read the retention', action: 's3:GetObjectRetention' },
  { right: 'to read the legal hold', action: 's3:GetObjectLegalHold' },
  { right: 'to read the tags', action: 's3:GetObject*Tagging' },
  { right: 'to set tags', action: 's3:PutObjectTagging' },
  { right: 'to write under the key', action: 's3:PutObject', condition: { Condition: ownKey } },
];

describe('a copy by the console is refused before anything is written', () => {
  it.each(Object.entries(ways).flatMap(([name, way]) => refusals.map((refusal) => ({ name, way, ...refusal }))))(
    '$name by a user without the right $right',
    async ({ way, action, condition }) => {
      const source = await prepare('lock', 'SSE-KMS', 'none');
      const user = await userWithout(action, condition);
      const { layer } = console.stores;
      const versions = async () => {
        const listing = { prefix: '', delimiter: '', keyMarker: '', limit: 100 };
        const all = await Promise.all(
          ['docs', 'other'].map((bucket) =>
            layer.listObjectVersions({ ...listing, bucket, versionIdMarker: undefined }),
          ),
        );
        return all.flatMap((page) => page.versions.map(({ key, versionId }) => [key, versionId]));
      };
      const before = await versions();
      await expect(way.run(user, source)).rejects.toThrow(
        /does not allow s3:|policies do not allow s3:|you may not read/,
      );
      // Those of Restore have a newer version first.
      expect((await versions()).filter(([key]) => key !== 'source')).toEqual([]);
      expect((await versions()).length).toBeLessThanOrEqual(
        before.length + (way === ways['Restore and rewind'] ? 1 : 0),
      );
      expect(attributesByName(await layer.headObject('docs', 'source', { versionId: source.versionId }))).toEqual(
        attributesByName(source),
      );
    },
  );
});

/** The rights to read and to write all that an object has, of the object and of its versions. */
const wholeRights = [
  ...['Get', 'Put'].flatMap((verb) =>
    ['Object', 'ObjectTagging', 'ObjectRetention', 'ObjectLegalHold'].map((what) => `s3:${verb}${what}`),
  ),
  's3:GetObjectVersion',
  's3:GetObjectVersionTagging',
  's3:DeleteObject',
  's3:ListBucket',
];

describe('a user with the rights of the copies alone makes a whole copy', () => {
  it.each(Object.entries(ways))('by %s', async (_, way) => {
    const source = await prepare('lock', 'SSE-KMS', 'none');
    const user = await userWith([
      { Effect: 'Allow', Action: wholeRights, Resource: ['arn:aws:s3:::docs*', 'arn:aws:s3:::other*'] },
    ]);
    const { bucket, key } = await way.run(user, source);
    const copy = await console.stores.layer.headObject(bucket, key);
    expectCopy(way.column, attributesByName(source), attributesByName(copy));
  });
});
