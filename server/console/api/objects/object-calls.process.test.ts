import { buffer } from 'node:stream/consumers';
import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TestBrowser, TestConsole } from '../../../../test/support/console/test-console.ts';
import type { BucketRights, KeyRightsAnswer, ObjectRights, ShareAnswer } from '../../../../protocol/console/rights.ts';
import type { ErrorAnswer } from '../../../../protocol/console/answers.ts';

let test: TestConsole;
/** The root user. */
let root: TestBrowser;
/** May list all, and read and write below `mine/`. */
let ann: TestBrowser;
/** May do nothing. */
let nobody: TestBrowser;

const statement = (action: readonly string[], resource: string) => ({
  Effect: 'Allow',
  Action: action,
  Resource: `arn:aws:s3:::${resource}`,
});

beforeAll(async () => {
  test = await TestConsole.start();
  root = new TestBrowser(test.url);
  await root.signIn();
  await root.send('POST', '/api/buckets', { json: { name: 'docs', versioning: true, tags: { team: 'a' } } });
  for (const key of ['mine/a.txt', 'mine/deep/b.txt', 'theirs/c.txt', '../odd']) {
    await root.send('PUT', at('s3/docs', { key }), { body: `content of ${key}` });
  }
  const Statement = [
    statement(['s3:ListBucket'], 'docs'),
    statement(['s3:GetObject', 's3:PutObject', 's3:GetObjectTagging'], 'docs/mine/*'),
  ];
  await test.identities.putPolicy('mine', JSON.stringify({ Version: '2012-10-17', Statement }));
  for (const name of ['ann', 'nobody']) await test.identities.putUser({ accessKey: name, secretKey: 'password-1' });
  await test.identities.attach({ kind: 'user', name: 'ann' }, ['mine']);
  [ann, nobody] = [new TestBrowser(test.url), new TestBrowser(test.url)];
  await ann.signIn({ accessKey: 'ann', secretKey: 'password-1' });
  await nobody.signIn({ accessKey: 'nobody', secretKey: 'password-1' });
});
afterAll(() => test.close());

const at = (what: string, query: Record<string, string>) => `/api/${what}?${new URLSearchParams(query).toString()}`;
const json = async <Answer>(response: Response) => (await response.json()) as Answer;

describe('an operation of the S3 API with a session', () => {
  it('answers as S3 does', async () => {
    const response = await root.send('GET', at('s3/docs', { versions: '', prefix: 'mine/' }));
    expect(await response.text()).toMatch(/<ListVersionsResult.*<Key>mine\/a\.txt<\/Key>.*<IsLatest>true/s);
    expect(response.headers.get('content-security-policy')).toContain('sandbox');
  });

  it('creates an empty object', async () => {
    const headers = { 'if-none-match': '*', 'content-type': 'application/x-directory' };
    const first = await root.send('PUT', at('s3/docs', { key: 'empty/' }), { headers });
    expect([first.status, await first.text()]).toEqual([200, '']);
    expect((await root.send('PUT', at('s3/docs', { key: 'empty/' }), { headers })).status).toBe(412);
  });

  it('takes any key', async () => {
    expect(await (await root.send('GET', at('s3/docs', { key: '../odd' }))).text()).toBe('content of ../odd');
  });

  it.each([
    ['GET', { key: 'theirs/c.txt' }, 's3:GetObject', 'docs/theirs/c.txt'],
    ['PUT', { key: 'theirs/c.txt' }, 's3:PutObject', 'docs/theirs/c.txt'],
    ['DELETE', { key: 'mine/a.txt' }, 's3:DeleteObject', 'docs/mine/a.txt'],
    ['GET', { policy: '' }, 's3:GetBucketPolicy', 'docs'],
    ['PUT', { versioning: '' }, 's3:PutBucketVersioning', 'docs'],
  ])('refuses %s %j with the policy, action and resource named', async (method, query, action, resource) => {
    const response = await ann.send(method, at('s3/docs', query), method === 'PUT' ? { body: 'x' } : {});
    expect(response.status).toBe(403);
    expect(await json<ErrorAnswer>(response)).toEqual({
      code: 'AccessDenied',
      message: `Your policy (mine) does not allow ${action} on ${resource}. An administrator can change that.`,
    });
  });

  it('authorizes the source of a copy too', async () => {
    const headers = { 'x-amz-copy-source': '/docs/theirs/c.txt' };
    expect((await ann.send('PUT', at('s3/docs', { key: 'mine/copy' }), { headers })).status).toBe(403);
    const own = { 'x-amz-copy-source': '/docs/mine/a.txt' };
    expect((await ann.send('PUT', at('s3/docs', { key: 'mine/copy' }), { headers: own })).status).toBe(200);
  });

  it('is not opened by a link, which cannot send the header of the console', async () => {
    const cookie = `coffer_session=${root.cookie('coffer_session')}`;
    const response = await fetch(`${test.url}${at('s3/docs', { key: 'mine/a.txt' })}`, { headers: { cookie } });
    expect([response.status, (await json<ErrorAnswer>(response)).code]).toEqual([403, 'CrossSiteRequest']);
  });

  it('needs a session', async () => {
    const response = await new TestBrowser(test.url).send('GET', at('s3/docs', { versions: '' }));
    expect(response.status).toBe(401);
  });

  it('refuses another signature beside the session', async () => {
    expect((await root.send('GET', at('s3/docs', { 'X-Amz-Signature': 'x' }))).status).toBe(400);
  });
});

describe('the content of an object', () => {
  it.each([
    ['application/pdf', 200, 'application/pdf'],
    ['image/svg+xml', 200, 'image/svg+xml'],
    ['text/html', 400, 'application/json'],
  ])('is shown as %s: %d', async (view, status, type) => {
    const response = await root.send('GET', at('buckets/docs/content', { key: 'mine/a.txt', view }));
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toContain(type);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it.each(['image/svg+xml', 'video/mp4'])('runs in a sandbox as %s', async (view) => {
    const response = await root.send('GET', at('buckets/docs/content', { key: 'mine/a.txt', view }));
    expect(response.headers.get('content-security-policy')).toContain('sandbox');
    expect(response.headers.get('x-frame-options')).toBe('DENY');
  });
});

async function rights(browser: TestBrowser, key: string) {
  return (await json<ObjectRights>(await browser.send('GET', at('buckets/docs/object-rights', { key })))).object;
}

const rightsOnKeys = async (browser: TestBrowser, keys: string) =>
  json<KeyRightsAnswer>(await browser.send('GET', at('key-rights', { keys })));

describe('the rights on keys of the key service', () => {
  it.each<[string, readonly object[], KeyRightsAnswer]>([
    [
      'some keys',
      [{ Effect: 'Allow', Action: ['kms:RotateKey', 'kms:KeyStatus'], Resource: 'arn:minio:kms:::team-*' }],
      { keys: { 'team-a': ['keyStatus', 'rotate'], main: [] }, some: ['keyStatus', 'rotate'] },
    ],
    [
      'all keys but one',
      [
        { Effect: 'Allow', Action: 'kms:*' },
        { Effect: 'Deny', Action: 'kms:RotateKey', Resource: 'arn:minio:kms:::main' },
      ],
      {
        keys: { 'team-a': ['keyStatus', 'create', 'import', 'rotate'], main: ['keyStatus', 'create', 'import'] },
        some: ['keyStatus', 'create', 'import', 'rotate'],
      },
    ],
  ])('of a policy on %s', async (what, Statement, expected) => {
    const name = what.replaceAll(' ', '-');
    await test.identities.putPolicy(name, JSON.stringify({ Version: '2012-10-17', Statement }));
    await test.identities.putUser({ accessKey: name, secretKey: 'password-1' });
    await test.identities.attach({ kind: 'user', name }, [name]);
    const kim = new TestBrowser(test.url);
    await kim.signIn({ accessKey: name, secretKey: 'password-1' });
    expect(await rightsOnKeys(kim, 'team-a,main')).toEqual(expected);
  });

  it('are none without a policy, and those of root', async () => {
    expect(await rightsOnKeys(nobody, 'main')).toEqual({ keys: { main: [] }, some: [] });
    expect((await rightsOnKeys(root, 'main')).keys['main']).toHaveLength(4);
  });

  it('are asked for 50 keys at most', async () => {
    const keys = Array.from({ length: 51 }, (_, at) => `key-${at}`).join(',');
    expect((await root.send('GET', at('key-rights', { keys }))).status).toBe(400);
  });
});

async function rightsHere(browser: TestBrowser, prefix: string) {
  const { here, writesSomewhere } = await json<BucketRights>(
    await browser.send('GET', at('buckets/docs/rights', { prefix })),
  );
  return [here, writesSomewhere];
}

const rightsOfNobody = async (bucket: string): Promise<unknown> =>
  (await nobody.send('GET', at(`buckets/${bucket}/rights`, {}))).json();

describe('the rights of a user', () => {
  it('are told for a bucket and below a prefix at once', async () => {
    const ofAnn = await json<BucketRights>(await ann.send('GET', at('buckets/docs/rights', { prefix: '' })));
    expect(ofAnn.bucket).toEqual(['s3:ListBucket']);
    expect(ofAnn.every).toEqual([]);
    expect(ofAnn.some).toEqual(['s3:GetObject', 's3:PutObject', 's3:GetObjectTagging']);
    const below = await json<BucketRights>(await ann.send('GET', at('buckets/docs/rights', { prefix: 'mine/' })));
    expect(below.every).toEqual(['s3:GetObject', 's3:PutObject', 's3:GetObjectTagging']);
    const theirs = await json<BucketRights>(await ann.send('GET', at('buckets/docs/rights', { prefix: 'theirs/' })));
    expect(theirs.some).toEqual([]);
  });

  it('are told for what is directly in a folder, and for a copy to anywhere', async () => {
    expect(await rightsHere(ann, '')).toEqual([[], true]);
    expect(await rightsHere(ann, 'mine/')).toEqual([['s3:GetObject', 's3:PutObject', 's3:GetObjectTagging'], true]);
    expect(await rightsHere(nobody, 'mine/')).toEqual([[], false]);
  });

  it('are told for a key', async () => {
    expect(await rights(ann, 'mine/a.txt')).toEqual(['s3:GetObject', 's3:PutObject', 's3:GetObjectTagging']);
    expect(await rights(ann, 'theirs/c.txt')).toEqual([]);
    expect(await rights(nobody, 'mine/a.txt')).toEqual([]);
  });

  it('do not tell whether a bucket exists', async () => {
    expect(await rightsOfNobody('docs')).toEqual(await rightsOfNobody('absent'));
  });
});

describe('a share link', () => {
  it('is signed for the object, and ends in time', async () => {
    const query = { key: 'mine/a.txt', seconds: '900' };
    const { url, expires } = await json<ShareAnswer>(await ann.send('GET', at('buckets/docs/share', query)));
    expect(new URL(url).pathname).toBe('/docs/mine/a.txt');
    expect(new URL(url).searchParams.get('X-Amz-Expires')).toBe('900');
    expect(new Date(expires).getTime() - Date.now()).toBeLessThanOrEqual(900_000);
  });

  it.each([
    [{ key: 'theirs/c.txt' }, 403],
    [{ key: 'mine/a.txt', seconds: '604801' }, 400],
    [{ key: 'mine/a.txt', versionId: 'x', method: 'PUT' }, 400],
    [{ key: 'mine/a.txt', method: 'DELETE' }, 400],
  ])('is refused for %j with %d', async (query, status) => {
    expect((await ann.send('GET', at('buckets/docs/share', query))).status).toBe(status);
  });

  it('works for as long as the policies take its signature, at most', async () => {
    await test.identities.putUser({ accessKey: 'eve', secretKey: 'password-1' });
    const Statement = [
      statement(['s3:GetObject', 's3:PutObject'], 'docs/mine/*'),
      {
        Effect: 'Deny',
        Action: 's3:GetObject',
        Resource: 'arn:aws:s3:::docs/mine/*',
        Condition: { NumericGreaterThanEquals: { 's3:signatureAge': '600000' } },
      },
      {
        Effect: 'Deny',
        Action: 's3:PutObject',
        Resource: 'arn:aws:s3:::docs/mine/*',
        Condition: { StringEquals: { 's3:authType': 'REST-QUERY-STRING' } },
      },
    ];
    await test.identities.putPolicy('short-links', JSON.stringify({ Version: '2012-10-17', Statement }));
    await test.identities.attach({ kind: 'user', name: 'eve' }, ['short-links']);
    const eve = new TestBrowser(test.url);
    await eve.signIn({ accessKey: 'eve', secretKey: 'password-1' });
    const share = (query: Record<string, string>) =>
      eve.send('GET', at('buckets/docs/share', { key: 'mine/a.txt', ...query }));
    const answer = await json<ShareAnswer>(await share({ seconds: '604800' }));
    expect(answer).toMatchObject({ longest: 600, limitedBy: 'policy' });
    expect(new URL(answer.url).searchParams.get('X-Amz-Expires')).toBe('600');
    const rejected = await share({ method: 'PUT' });
    expect(rejected.status).toBe(403);
    expect((await json<ErrorAnswer>(rejected)).message).toContain('s3:PutObject on docs/mine/a.txt, but not by a link');
  });

  it('works for as long as the protocol allows where neither policies nor the session end it', async () => {
    const answer = await json<ShareAnswer>(await ann.send('GET', at('buckets/docs/share', { key: 'mine/a.txt' })));
    expect(answer).toMatchObject({ longest: 604_800, limitedBy: 'protocol' });
  });

  it('is refused for a key that programs would change in an address', async () => {
    expect((await root.send('GET', at('buckets/docs/share', { key: '../odd' }))).status).toBe(400);
  });
});

async function entriesOf(response: Response): Promise<Record<string, string>> {
  const zip: ZipFile = await fromBufferPromise(Buffer.from(await response.arrayBuffer()));
  const found: Record<string, string> = {};
  for await (const entry of zip.eachEntry() as AsyncIterable<Entry>) {
    const stream = await zip.openReadStreamPromise(entry);
    found[entry.fileName] = (await buffer(stream)).toString();
  }
  return found;
}

const archive = (browser: TestBrowser, fields: readonly (readonly [string, string])[], more = {}) =>
  browser.send('POST', '/api/buckets/docs/archive', {
    body: new URLSearchParams(fields.map(([name, value]) => [name, value])).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: test.url, ...more },
  });

const check = (fields: string) =>
  ann.send('POST', '/api/buckets/docs/archive?check=1', {
    body: fields,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

describe('an upload', () => {
  // The policy of AWS for buckets that nobody may overwrite. Parts of an upload carry no condition, so that it looks at the creation alone.
  it('is one that creates an object, for the conditions of policies', async () => {
    const Statement = [
      statement(['s3:PutObject'], 'docs/once/*'),
      {
        ...statement(['s3:PutObject'], 'docs/once/*'),
        Effect: 'Deny',
        Condition: { Null: { 's3:if-none-match': 'true' }, Bool: { 's3:ObjectCreationOperation': 'true' } },
      },
    ];
    await test.identities.putPolicy('once', JSON.stringify({ Version: '2012-10-17', Statement }));
    await test.identities.putUser({ accessKey: 'eve', secretKey: 'password-1' });
    await test.identities.attach({ kind: 'user', name: 'eve' }, ['once']);
    const eve = new TestBrowser(test.url);
    await eve.signIn({ accessKey: 'eve', secretKey: 'password-1' });
    const upload = (headers: Record<string, string>) =>
      eve.send('PUT', at('s3/docs', { key: 'once/a' }), { body: 'a', headers });
    expect((await upload({})).status).toBe(403);
    for (const other of ['"x"', 'x', '']) expect((await upload({ 'if-none-match': other })).status).toBe(403);
    expect((await upload({ 'if-none-match': '*' })).status).toBe(200);
    expect((await upload({})).status).toBe(403);
  });
});

const putShown = (name: string, tags: string) =>
  root.send('PUT', at('s3/docs', { key: `shown/${name}` }), { body: name, headers: { 'x-amz-tagging': tags } });

describe('an archive', () => {
  it('leaves out an object that was replaced by a forbidden one after it was chosen', async () => {
    const tagged = {
      ...statement(['s3:GetObject'], 'docs/shown/*'),
      Condition: { StringEquals: { 's3:ExistingObjectTag/shown': 'yes' } },
    };
    const Statement = [statement(['s3:ListBucket'], 'docs'), tagged];
    await test.identities.putPolicy('shown', JSON.stringify({ Version: '2012-10-17', Statement }));
    await test.identities.putUser({ accessKey: 'tom', secretKey: 'password-1' });
    await test.identities.attach({ kind: 'user', name: 'tom' }, ['shown']);
    for (const name of ['1', '2', '3']) await putShown(name, 'shown=yes');
    const tom = new TestBrowser(test.url);
    await tom.signIn({ accessKey: 'tom', secretKey: 'password-1' });
    const { layer } = test.stores;
    const read = layer.getObject.bind(layer);
    const reads = vi.spyOn(layer, 'getObject').mockImplementation(async (bucket, key, options) => {
      if (key === 'shown/1') await putShown('2', 'shown=no');
      // This one is replaced between the decision and the read.
      if (key === 'shown/3') await putShown('3', 'shown=no');
      return read(bucket, key, options);
    });
    try {
      const response = await archive(tom, [['folder', 'shown/']]);
      expect(await entriesOf(response)).toEqual({
        'shown/1': '1',
        'left out.txt': expect.stringMatching(/^shown\/2: .+\nshown\/3: .+\n$/) as string,
      });
    } finally {
      reads.mockRestore();
    }
  });

  it('has the chosen objects and folders, with names that stay in their folder', async () => {
    const response = await archive(root, [
      ['folder', 'mine/deep/'],
      ['key', 'mine/a.txt'],
      ['key', '../odd'],
    ]);
    expect(response.headers.get('content-disposition')).toContain('docs.zip');
    expect(await entriesOf(response)).toEqual({
      'mine/a.txt': 'content of mine/a.txt',
      'mine/deep/b.txt': 'content of mine/deep/b.txt',
      '___/odd': 'content of ../odd',
    });
  });

  it('names what the user may not read below a folder', async () => {
    await root.send('PUT', at('s3/docs', { key: 'mix/mine' }), { body: 'x' });
    const response = await archive(ann, [
      ['folder', 'mine/deep/'],
      ['folder', 'mix/'],
    ]);
    expect(await entriesOf(response)).toEqual({
      'mine/deep/b.txt': 'content of mine/deep/b.txt',
      'left out.txt': 'mix/mine: no policy of yours allows s3:GetObject\n',
    });
  });

  it.each([
    ['a chosen key that the user may not read', [['key', 'theirs/c.txt']], 403],
    ['nothing', [], 400],
    ['an absent key', [['key', 'mine/absent']], 404],
  ] as const)('is refused for %s', async (_, fields, status) => {
    expect((await archive(ann, fields)).status).toBe(status);
  });

  it('is checked before it is made', async () => {
    expect((await check('key=mine%2Fa.txt')).status).toBe(204);
    expect((await check('key=theirs%2Fc.txt')).status).toBe(403);
  });

  it.each([{ origin: 'https://evil.example' }, { 'x-coffer-console': '', origin: 'null' }])(
    'is not made for a form of another site: %j',
    async (more) => {
      expect((await archive(root, [['key', 'mine/a.txt']], more)).status).toBe(403);
    },
  );
});
