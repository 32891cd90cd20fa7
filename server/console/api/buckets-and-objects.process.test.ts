import * as fc from 'fast-check';
import { encryptions } from '../../../test/support/s3-documents/bucket-settings.ts';
import { request as httpRequest } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OpenIdProviderDouble } from '../../../test/support/openid/openid-provider.ts';
import type {
  BucketAnswer,
  BucketList,
  ErrorAnswer,
  ObjectDetails,
  ObjectPage,
  PrefixDeletion,
} from '../../../protocol/console/answers.ts';
import { usageRounds } from '../../observability/usage/count-usage.ts';
import { TestBrowser, TestConsole } from '../../../test/support/console/test-console.ts';
import { unlimited } from '../../maintenance/pace.ts';

let provider: OpenIdProviderDouble;
let console: TestConsole;
/** The root user. */
let root: TestBrowser;
/** A person whose policy is `readonly`. */
let reader: TestBrowser;

beforeEach(async () => {
  provider = await OpenIdProviderDouble.start({
    users: [
      { username: 'rita', claims: { policy: 'readonly' } },
      { username: 'tim', claims: { policy: 'tidier' } },
    ],
  });
  console = await TestConsole.start({ openid: [{ id: 'DEMO', configUrl: provider.configUrl }] });
  provider.realm.clients.get('coffer')?.redirectUris.push(`${console.url}/oauth_callback`);
  root = new TestBrowser(console.url);
  await root.signIn();
  reader = new TestBrowser(console.url);
  await reader.signInBy('DEMO', 'rita', 'rita-password');
});
afterEach(async () => {
  await console.close();
  await provider.close();
});

const log = { info: () => undefined, warn: () => undefined };
const countUsage = () => usageRounds({ cycleMs: 1, reads: unlimited, log })({ records: console.stores.records });

const json = async <Answer>(response: Response) => (await response.json()) as Answer;
const create = (name: string, more: object = {}) => root.send('POST', '/api/buckets', { json: { name, ...more } });
const at = (bucket: string, what: string, query: Record<string, string>) =>
  `/api/buckets/${bucket}/${what}?${new URLSearchParams(query).toString()}`;
/** The S3 route of an object of `docs`. */
const ofObject = (query: Record<string, string>) => `/api/s3/docs?${new URLSearchParams(query).toString()}`;
const detailsOf = async (key: string) => json<ObjectDetails>(await root.send('GET', at('docs', 'object', { key })));
const encryptionTag = async () =>
  (await json<BucketAnswer>(await root.send('GET', '/api/buckets/docs'))).encryptionTag ?? '';
const storedEncryption = () => console.stores.layer.getBucketEncryption('docs');
const mayIn = async (browser: TestBrowser) =>
  (await json<BucketAnswer>(await browser.send('GET', '/api/buckets/docs'))).may;
const upload = (key: string, body: string, headers: Record<string, string> = {}) =>
  root.send('PUT', ofObject({ key }), { body, headers });

describe('buckets', () => {
  it('are created with their default encryption, listed and deleted', async () => {
    expect((await create('docs', { encryption: { scheme: 'SSE-KMS', keyName: 'default-key' } })).status).toBe(201);
    const { buckets } = await json<BucketList>(await root.send('GET', '/api/buckets'));
    expect(buckets).toMatchObject([{ name: 'docs', encryption: { scheme: 'SSE-KMS', keyName: 'default-key' } }]);
    expect((await root.send('DELETE', '/api/buckets/docs')).status).toBe(204);
    expect((await json<BucketList>(await root.send('GET', '/api/buckets'))).buckets).toEqual([]);
  });

  it('show the counted usage to users who may list them', async () => {
    await create('docs');
    await upload('a', 'content');
    expect(await json<BucketList>(await root.send('GET', '/api/buckets'))).not.toHaveProperty('counted');
    await countUsage();
    await create('new');
    expect(await json<BucketList>(await root.send('GET', '/api/buckets'))).toMatchObject({
      mayCreate: true,
      buckets: [{ name: 'docs', usage: { objects: 1, bytes: 7 } }, { name: 'new' }],
      counted: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const { buckets, mayCreate } = await json<BucketList>(await reader.send('GET', '/api/buckets'));
    expect(mayCreate).toBe(false);
    expect(buckets.map(({ name, usage }) => [name, usage])).toEqual([
      ['docs', undefined],
      ['new', undefined],
    ]);
  });

  it('have their default encryption changed and removed', async () => {
    await create('docs');
    const encryption = async () => (await json<BucketAnswer>(await root.send('GET', '/api/buckets/docs'))).encryption;
    expect(await encryption()).toBeUndefined();
    await root.send('PUT', '/api/buckets/docs/encryption', { json: { scheme: 'SSE-S3' } });
    expect(await encryption()).toEqual({ scheme: 'SSE-S3' });
    await root.send('DELETE', '/api/buckets/docs/encryption');
    expect(await encryption()).toBeUndefined();
  });

  it('keep the blocked encryption types when the default changes or is removed', async () => {
    await create('docs');
    const { layer } = console.stores;
    await layer.putBucketEncryption('docs', { scheme: 'none', blocked: ['SSE-C'] });
    await root.send('PUT', '/api/buckets/docs/encryption', { json: { scheme: 'SSE-S3' } });
    expect(await layer.getBucketEncryption('docs')).toEqual({ scheme: 'SSE-S3', blocked: ['SSE-C'] });
    await root.send('DELETE', '/api/buckets/docs/encryption');
    expect(await layer.getBucketEncryption('docs')).toEqual({ scheme: 'none', blocked: ['SSE-C'] });
  });

  it('keep every field of the encryption that the form does not have, and show them', async () => {
    await create('docs');
    const { layer } = console.stores;
    await fc.assert(
      fc.asyncProperty(encryptions, async (before) => {
        // The only key of the key service.
        await layer.putBucketEncryption('docs', {
          ...before,
          ...(before.scheme === 'SSE-KMS' && { keyName: 'default-key' }),
        });
        const { bucketKey, blocked } = before;
        const shown = await json<BucketAnswer>(await root.send('GET', '/api/buckets/docs'));
        expect(shown.encryptionKeeps ?? {}).toEqual({ bucketKey, blocked });
        await root.send('PUT', '/api/buckets/docs/encryption', { json: { scheme: 'SSE-KMS' } });
        expect(await layer.getBucketEncryption('docs')).toEqual({ scheme: 'SSE-KMS', bucketKey, blocked });
        await root.send('DELETE', '/api/buckets/docs/encryption');
        expect(await layer.getBucketEncryption('docs')).toEqual(
          blocked === undefined ? undefined : { scheme: 'none', bucketKey, blocked },
        );
      }),
      { numRuns: 100 },
    );
  });

  describe('whose default encryption two administrators change', () => {
    const path = '/api/buckets/docs/encryption';
    beforeEach(() => create('docs'));

    it('refuse the change of the one who has not seen that of the other', async () => {
      const seen = await encryptionTag();
      expect((await root.send('PUT', `${path}?expects=${seen}`, { json: { scheme: 'SSE-KMS' } })).status).toBe(204);
      for (const send of [
        () => root.send('PUT', `${path}?expects=${seen}`, { json: { scheme: 'SSE-S3' } }),
        () => root.send('DELETE', `${path}?expects=${seen}`),
      ]) {
        const refused = await send();
        expect([refused.status, (await json<ErrorAnswer>(refused)).code]).toEqual([412, 'PreconditionFailed']);
      }
      expect(await storedEncryption()).toEqual({ scheme: 'SSE-KMS' });
      expect((await root.send('DELETE', `${path}?expects=${await encryptionTag()}`)).status).toBe(204);
      expect(await storedEncryption()).toBeUndefined();
    });

    it('never write an encryption without what was blocked between the read and the write', async () => {
      const { layer } = console.stores;
      const read = layer.getBucketEncryption.bind(layer);
      const blocked = { scheme: 'none', blocked: ['SSE-C'] } as const;
      const spy = vi.spyOn(layer, 'getBucketEncryption').mockImplementationOnce(async (bucket) => {
        const before = await read(bucket);
        await layer.putBucketEncryption(bucket, blocked);
        return before;
      });
      const refused = await root.send('PUT', path, { json: { scheme: 'SSE-S3' } });
      expect(spy).toHaveBeenCalled();
      spy.mockRestore();
      expect([refused.status, await storedEncryption()]).toEqual([412, blocked]);
    });
  });

  it.each(['Docs', 'a', '../etc', 'x'.repeat(64), ''])('are refused the name "%s"', async (name) => {
    expect((await create(name)).status).toBe(400);
  });

  it('that are not empty are not deleted, with the reason', async () => {
    await create('docs');
    await upload('a', 'a');
    const response = await root.send('DELETE', '/api/buckets/docs');
    expect(response.status).toBe(409);
    expect((await json<ErrorAnswer>(response)).code).toBe('BucketNotEmpty');
  });

  it('report the permissions of the user', async () => {
    await create('docs');
    expect(Object.values(await mayIn(root))).toEqual(Array.from({ length: 6 }, () => true));
    expect(await mayIn(reader)).toMatchObject({ read: true, write: false, delete: false, deleteBucket: false });
  });
});

describe('objects', () => {
  beforeEach(async () => {
    await create('docs');
  });

  it('are downloaded as they were uploaded, with their file name', async () => {
    const key = 'reports/Übersicht "2026"; 100%.html';
    const put = await upload(key, '<script>alert(1)</script>', { 'content-type': 'text/html' });
    expect(put.status).toBe(200);
    const response = await root.send('GET', at('docs', 'content', { key }));
    expect(await response.text()).toBe('<script>alert(1)</script>');
    expect(response.headers.get('content-type')).toBe('text/html');
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="_bersicht _2026_; 100_.html"; filename*=UTF-8''%C3%9Cbersicht%20%222026%22%3B%20100%25.html`,
    );
    expect(response.headers.get('content-security-policy')).toContain('sandbox');
  });

  it.each(['../secret', '.', 'a//b', 'a/./b', ' ', 'a?b#c', 'ключ/文件'])('may be called "%s"', async (key) => {
    expect((await upload(key, key)).status).toBe(200);
    expect(await (await root.send('GET', at('docs', 'content', { key }))).text()).toBe(key);
  });

  it.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-2', 206, '89', 'bytes 8-9/10'],
    ['bytes=5-99', 206, '56789', 'bytes 5-9/10'],
    ['bytes=3-1', 200, '0123456789', null],
    ['lines=1-2', 200, '0123456789', null],
  ])('give the range %s as %d', async (range, status, body, contentRange) => {
    await upload('digits', '0123456789');
    const response = await root.send('GET', at('docs', 'content', { key: 'digits' }), { headers: { range } });
    expect([response.status, await response.text()]).toEqual([status, body]);
    expect(response.headers.get('content-range')).toBe(contentRange);
  });

  it('refuse a range beyond their end', async () => {
    await upload('digits', '0123456789');
    const response = await root.send('GET', at('docs', 'content', { key: 'digits' }), {
      headers: { range: 'bytes=10-' },
    });
    expect(response.status).toBe(416);
  });

  it('are not replaced by an upload with If-None-Match', async () => {
    await upload('a', 'first');
    const response = await upload('a', 'second', { 'if-none-match': '*' });
    expect(response.status).toBe(412);
    expect((await json<ErrorAnswer>(response)).code).toBe('PreconditionFailed');
    expect(await (await root.send('GET', at('docs', 'content', { key: 'a' }))).text()).toBe('first');
  });

  it('need a Content-Length', async () => {
    const response = await new Promise<number | undefined>((resolve, reject) => {
      const sent = httpRequest(`${console.url}${ofObject({ key: 'a' })}`, {
        method: 'PUT',
        headers: {
          'transfer-encoding': 'chunked',
          'x-coffer-console': '1',
          cookie: `coffer_session=${root.cookie('coffer_session')}`,
        },
      });
      sent.once('response', (answer) => resolve(answer.statusCode)).once('error', reject);
      sent.end('abc');
    });
    expect(response).toBe(411);
  });

  it('do not exist after a partial upload', async () => {
    await new Promise<void>((resolve) => {
      const sent = httpRequest(`${console.url}${ofObject({ key: 'half' })}`, {
        method: 'PUT',
        headers: {
          'content-length': '1000',
          'x-coffer-console': '1',
          cookie: `coffer_session=${root.cookie('coffer_session')}`,
        },
      });
      sent.once('error', () => resolve());
      sent.write('half', () => setImmediate(() => sent.destroy()));
      sent.once('close', resolve);
    });
    expect((await root.send('GET', at('docs', 'object', { key: 'half' }))).status).toBe(404);
  });

  it('show their metadata, encryption and key', async () => {
    await root.send('PUT', '/api/buckets/docs/encryption', { json: { scheme: 'SSE-KMS' } });
    await upload('a.txt', 'abc', { 'content-type': 'text/plain' });
    const details = await json<ObjectDetails>(await root.send('GET', at('docs', 'object', { key: 'a.txt' })));
    expect(details).toMatchObject({
      key: 'a.txt',
      size: 3,
      contentType: 'text/plain',
      encrypted: true,
      encryption: { scheme: 'SSE-KMS', keyName: 'default-key' },
    });
    expect(details).not.toHaveProperty('bucket');
  });

  it('are listed as folders and files, a page at a time', async () => {
    for (const key of ['a.txt', 'photos/1', 'photos/2', 'videos/1', 'z.txt']) await upload(key, key);
    const seen: string[] = [];
    let after = '';
    for (let page = 0; page < 5; page += 1) {
      const answer = await json<ObjectPage>(await root.send('GET', at('docs', 'objects', { after, limit: '2' })));
      seen.push(...answer.folders, ...answer.objects.map(({ key }) => key));
      if (answer.next === undefined) break;
      after = answer.next;
    }
    expect(seen.sort()).toEqual(['a.txt', 'photos/', 'videos/', 'z.txt']);
    const inside = await json<ObjectPage>(await root.send('GET', at('docs', 'objects', { prefix: 'photos/' })));
    expect(inside.objects.map(({ key }) => key)).toEqual(['photos/1', 'photos/2']);
  });

  it('are described with their version', async () => {
    await create('docs');
    await upload('a.txt', 'x');
    const { layer } = console.stores;
    expect((await detailsOf('a.txt')).versionId).toBe('null');
    await layer.putBucketVersioning('docs', { status: 'Enabled' });
    expect((await detailsOf('a.txt')).versionId).toBe('null');
    await upload('a.txt', 'y');
    expect((await detailsOf('a.txt')).versionId).toBe((await layer.headObject('docs', 'a.txt')).versionId);
    expect((await detailsOf('a.txt')).versionId).toMatch(/^[0-9a-f]{32}$/);
  });

  it('are found by their whole names', async () => {
    await create('docs');
    await upload('report.txt', 'x');
    const { objects } = await json<ObjectPage>(await root.send('GET', at('docs', 'objects', { prefix: 'report.txt' })));
    expect(objects.map(({ key }) => key)).toEqual(['report.txt']);
  });

  it.each<Record<string, string>>([{ limit: '0' }, { limit: '1001' }, { limit: 'x' }, { prefix: 'x'.repeat(1025) }])(
    'are not listed for %j',
    async (query) => {
      expect((await root.send('GET', at('docs', 'objects', query))).status).toBe(400);
    },
  );

  it('are deleted one by one, or by folder', async () => {
    for (const key of ['a.txt', 'photos/1', 'photos/deep/2']) await upload(key, key);
    expect((await root.send('DELETE', at('docs', 'object', { key: 'a.txt' }))).status).toBe(204);
    const round = await json<PrefixDeletion>(await root.send('DELETE', at('docs', 'objects', { prefix: 'photos/' })));
    expect(round).toEqual({ deleted: 2, refused: [] });
    expect(await json<ObjectPage>(await root.send('GET', at('docs', 'objects', {})))).toEqual({
      folders: [],
      objects: [],
    });
  });

  it('are not all deleted by an empty prefix', async () => {
    expect((await root.send('DELETE', at('docs', 'objects', {}))).status).toBe(400);
  });
});

describe('a user with the policy readonly', () => {
  beforeEach(async () => {
    await create('docs');
    await upload('a.txt', 'abc');
  });

  it('reads', async () => {
    const response = await reader.send('GET', at('docs', 'content', { key: 'a.txt' }));
    expect([response.status, await response.text()]).toEqual([200, 'abc']);
  });

  it.each([
    ['PUT', ofObject({ key: 'b' }), 's3:PutObject', 'docs/b'],
    ['DELETE', at('docs', 'object', { key: 'a.txt' }), 's3:DeleteObject', 'docs/a.txt'],
    ['DELETE', at('docs', 'objects', { prefix: 'a' }), 's3:ListBucket', 'docs'],
    ['DELETE', '/api/buckets/docs', 's3:DeleteBucket', 'docs'],
    ['DELETE', '/api/buckets/docs/encryption', 's3:PutEncryptionConfiguration', 'docs'],
  ])('is refused %s %s with the policy, action and resource named', async (method, path, action, resource) => {
    const response = await reader.send(method, path, method === 'PUT' ? { body: 'b' } : {});
    expect(response.status).toBe(403);
    expect(await json<ErrorAnswer>(response)).toEqual({
      code: 'AccessDenied',
      message: `Your policy (readonly) does not allow ${action} on ${resource}. An administrator can change that.`,
    });
    expect(await (await root.send('GET', at('docs', 'content', { key: 'a.txt' }))).text()).toBe('abc');
  });
});

describe('a user who may delete some objects of a folder', () => {
  it('learns which objects were not deleted, and why', async () => {
    await create('docs');
    for (const key of ['mine/1', 'mine/2', 'theirs/1']) await upload(key, key);
    const tidier = new TestBrowser(console.url);
    await tidier.signInBy('DEMO', 'tim', 'tim-password');
    const mine = await json<PrefixDeletion>(await tidier.send('DELETE', at('docs', 'objects', { prefix: 'mine/' })));
    expect(mine).toEqual({ deleted: 2, refused: [] });
    const theirs = await json<PrefixDeletion>(
      await tidier.send('DELETE', at('docs', 'objects', { prefix: 'theirs/' })),
    );
    expect(theirs.deleted).toBe(0);
    expect(theirs.refused).toMatchObject([{ key: 'theirs/1', message: expect.stringContaining('tidier') as string }]);
    expect((await root.send('GET', at('docs', 'object', { key: 'theirs/1' }))).status).toBe(200);
  });
});

it.each([
  [true, 'us-east-1'],
  [false, 'eu-central-1'],
])('shows a bucket of another region as S3 answers it, where SVC_REGION is set: %s', async (hasRegion, location) => {
  const other = await TestConsole.start({ settings: { hasRegion } });
  try {
    await other.stores.layer.createBucket('older', { location: 'eu-central-1' });
    const browser = new TestBrowser(other.url);
    await browser.signIn();
    expect(await json<BucketAnswer>(await browser.send('GET', '/api/buckets/older'))).toMatchObject({ location });
  } finally {
    await other.close();
  }
});
