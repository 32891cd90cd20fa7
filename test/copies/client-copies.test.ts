import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attributesOf, type CopiedAttributes } from '../../protocol/s3/copies/copied-attributes.ts';
import { TargetClient } from '../../server/replication/target-client.ts';
import { ClientDriver } from '../cli/client-driver.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { expectCopy } from './copy-table.ts';
import { wholeHeaders, wholeTags } from './whole-object.ts';

const client = new ClientDriver();
let servers: Readonly<Record<'s' | 't' | 'bare', RunningServer>>;

const keyOf = (byte: number) => ({
  SVC_KMS_SECRET_KEY: `key-${byte}:${Buffer.alloc(32, byte).toString('base64')}`,
  SVC_KMS_SSE_C_WITHOUT_TLS: 'on',
});

beforeAll(async () => {
  const [s, t, bare] = await Promise.all([
    startServer({ env: keyOf(1) }),
    startServer({ env: keyOf(2) }),
    startServer(),
  ]);
  servers = { s, t, bare };
  await Promise.all([s, t, bare].map((server) => untilReady(server)));
  await client.start(() =>
    Promise.resolve({ ...s, url: s.s3, stop: async () => void (await Promise.all([s.stop(), t.stop(), bare.stop()])) }),
  );
  for (const [name, { s3, accessKey, secretKey }] of Object.entries({ t, bare })) {
    await client.attemptWith({ input: `${accessKey}\n${secretKey}\n` }, 'alias', 'set', name, s3);
  }
  for (const name of ['s', 't', 'bare']) {
    for (const bucket of ['plain', 'more']) await client.run('mb', `${name}/${bucket}`);
    for (const bucket of ['lock', 'locked-too']) await client.run('mb', '--with-lock', `${name}/${bucket}`);
  }
}, 120_000);

afterAll(() => client.stop());

async function send(
  server: keyof typeof servers,
  bucket: string,
  request: Parameters<TargetClient['send']>[0],
): Promise<Awaited<ReturnType<TargetClient['send']>>> {
  const { s3, accessKey, secretKey } = servers[server];
  const sender = new TargetClient({
    arn: '',
    sourceBucket: '',
    endpoint: new URL(s3).host,
    secure: false,
    targetBucket: bucket,
    path: 'on',
    region: '',
    accessKey,
    secretKey,
    bandwidthLimit: 0,
    healthCheckMs: 0,
    disableProxy: true,
  });
  try {
    return await sender.send(request);
  } finally {
    sender.close();
  }
}

const encryptionHeaders = {
  none: {},
  'SSE-S3': { 'x-amz-server-side-encryption': 'AES256' },
  'SSE-KMS': {
    'x-amz-server-side-encryption': 'aws:kms',
    'x-amz-server-side-encryption-aws-kms-key-id': 'key-1',
    'x-amz-server-side-encryption-context': Buffer.from('{"case":"one"}').toString('base64'),
  },
} as const;
type Encryption = keyof typeof encryptionHeaders;

const word = (text: string) => `=?UTF-8?B?${Buffer.from(text, 'latin1').toString('base64')}?=`;
const lockHeaders = {
  'x-amz-object-lock-mode': 'GOVERNANCE',
  'x-amz-object-lock-retain-until-date': new Date(Date.now() + 5 * 86_400_000).toISOString(),
  'x-amz-object-lock-legal-hold': 'ON',
};

async function putWhole(bucket: string, key: string, encryption: Encryption): Promise<void> {
  const { metadata, ...described } = wholeHeaders;
  const body = Buffer.from('content');
  const answer = await send('s', bucket, {
    method: 'PUT',
    key,
    body,
    headers: {
      'content-type': described.contentType,
      'content-encoding': described.contentEncoding,
      'content-disposition': described.contentDisposition,
      'content-language': described.contentLanguage,
      'cache-control': described.cacheControl,
      expires: described.expires,
      'x-amz-storage-class': described.storageClass,
      'x-amz-website-redirect-location': described.websiteRedirect,
      ...Object.fromEntries(
        Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, value === '' ? '' : word(value)]),
      ),
      'x-amz-tagging': new URLSearchParams(wholeTags).toString(),
      'x-amz-checksum-sha256': createHash('sha256').update(body).digest('base64'),
      ...encryptionHeaders[encryption],
      ...(bucket === 'lock' && lockHeaders),
    },
  });
  expect([answer.status, answer.text]).toEqual([200, '']);
}

async function attributes(server: keyof typeof servers, bucket: string, key: string): Promise<CopiedAttributes> {
  const headers = { 'x-amz-checksum-mode': 'ENABLED' };
  const answer = await send(server, bucket, { method: 'HEAD', key, headers });
  expect(answer.status).toBe(200);
  return attributesOf(answer.headers, new Date());
}

const statusOf = async (server: keyof typeof servers, bucket: string, key: string, headers = {}) =>
  (await send(server, bucket, { method: 'HEAD', key, headers })).status;

const tagsOf = async (server: keyof typeof servers, bucket: string, key: string) =>
  (await send(server, bucket, { method: 'GET', key, query: { tagging: '' } })).text.replaceAll(/<\?.*\?>\s*/g, '');

/** What an answer shows, by the rows of the table. */
function byName({ content, metadata, encryption, checksum, lock, ...rest }: CopiedAttributes, tags: string) {
  const { expires, ...described } = content;
  return {
    'content headers': described,
    Expires: expires,
    'user metadata': metadata,
    tags,
    'website redirect': rest.websiteRedirect,
    'storage class': rest.storageClass,
    encryption:
      encryption?.kind === 'server' && encryption.keyId !== undefined
        ? { ...encryption, keyId: undefined, keyName: encryption.keyId }
        : encryption,
    'checksum algorithm': checksum?.algorithm,
    retention: lock.retention,
    'legal hold': lock.legalHold,
  };
}

const encryptions = Object.keys(encryptionHeaders) as readonly Encryption[];
/** The names of the flags by way, and whether a lock comes along. */
const ways: readonly (readonly [string, boolean])[] = [
  ['cp', false],
  ['cp -a', true],
  ['mv', true],
  ['mirror', false],
  ['mirror -a', true],
];
const targets = [
  { server: 's', plain: 'more', lock: 'locked-too' },
  { server: 't', plain: 'plain', lock: 'lock' },
] as const;

let count = 0;

async function run(way: string, from: string, to: string): Promise<{ code: number | null; stderr: string }> {
  const [command = '', ...flags] = way.split(' ');
  // A mirror copies a folder.
  const args = command === 'mirror' ? [from, to] : [`${from}object`, `${to}object`];
  return client.attempt(command, ...flags, ...args);
}

describe('a copy by the client is equal to its source', { timeout: 120_000 }, () => {
  it.each(
    ways.flatMap(([way, keepsLock]) =>
      targets.flatMap((target) =>
        (['plain', 'lock'] as const).flatMap((kind) =>
          encryptions.map((encryption) => ({ way, keepsLock, target, kind, encryption })),
        ),
      ),
    ),
  )('$way to $target.server, bucket $kind, encryption $encryption', async (one) => {
    const { way, keepsLock, target, kind, encryption } = one;
    const folder = `${(count += 1)}/`;
    await putWhole(kind, `${folder}object`, encryption);
    const [source, tags] = [await attributes('s', kind, `${folder}object`), await tagsOf('s', kind, `${folder}object`)];
    const bucket = target[kind];
    const { code, stderr } = await run(way, `s/${kind}/${folder}`, `${target.server}/${bucket}/${folder}`);
    expect(code, stderr).toBe(0);
    const copy = await attributes(target.server, bucket, `${folder}object`);
    const copiedTags = await tagsOf(target.server, bucket, `${folder}object`);
    expectCopy(
      keepsLock ? 'client: mv, cp -a, mirror -a' : 'client: cp, mirror',
      byName(source, tags),
      byName(copy, copiedTags),
      {
        ...(target.server === 't' && { otherKey: 'arn:aws:kms:key-2' }),
      },
    );
    expect(stderr.includes('locks of 1 object are left behind')).toBe(kind === 'lock' && !keepsLock);
  });
});

describe('a copy by the client is refused before anything is written', { timeout: 120_000 }, () => {
  it.each(['mv', 'cp -a'])('%s of a lock to a bucket that has none', async (way) => {
    await putWhole('lock', 'refused/object', 'none');
    const { code, stderr } = await run(way, 's/lock/refused/', 's/more/refused/');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/object ?lock/i)]);
    expect(await statusOf('s', 'more', 'refused/object')).toBe(404);
    expect((await send('s', 'lock', { method: 'HEAD', key: 'refused/object' })).status).toBe(200);
  });

  it.each(['SSE-S3', 'SSE-KMS'] as const)('%s to a server without keys, unless it is said', async (encryption) => {
    await putWhole('plain', 'secret/object', encryption);
    const refused = await run('cp', 's/plain/secret/', 'bare/plain/secret/');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--enc-none')]);
    expect(await statusOf('bare', 'plain', 'secret/object')).toBe(404);
    const said = await run('cp --enc-none bare/plain', 's/plain/secret/', 'bare/plain/said/');
    expect([said.code, said.stderr]).toEqual([0, '']);
    const { encryption: _, ...rest } = await attributes('s', 'plain', 'secret/object');
    expect(await attributes('bare', 'plain', 'said/object')).toEqual(rest);
  });
});

describe('the flags take the place of what a source has', { timeout: 120_000 }, () => {
  beforeAll(() => putWhole('plain', 'given/object', 'SSE-KMS'));

  it.each(['s', 't'] as const)('in a copy to %s', async (server) => {
    const flags = `cp --enc-s3 ${server}/plain --tags a=b --attr content-type=text/css;x=y --sc STANDARD`;
    const { code, stderr } = await run(flags, 's/plain/given/', `${server}/plain/new/`);
    expect([code, stderr]).toEqual([0, '']);
    const source = await attributes('s', 'plain', 'given/object');
    const { storageClass: _, ...rest } = source;
    expect(await attributes(server, 'plain', 'new/object')).toEqual({
      ...rest,
      tags: 1,
      content: { ...source.content, 'content-type': 'text/css' },
      metadata: { ...source.metadata, x: 'y' },
      encryption: { kind: 'server', scheme: 'AES256', bucketKey: false },
    });
  });
});

describe('an object under the key of the client', { timeout: 120_000 }, () => {
  const key = Buffer.alloc(32, 9);
  const flag = (place: string) => ['--enc-c', `${place}=${key.toString('hex')}`];
  const keyHeaders = {
    'x-amz-server-side-encryption-customer-algorithm': 'AES256',
    'x-amz-server-side-encryption-customer-key': key.toString('base64'),
    'x-amz-server-side-encryption-customer-key-md5': createHash('md5').update(key).digest('base64'),
  };

  beforeAll(async () => {
    const put = { method: 'PUT', key: 'own/object', body: Buffer.from('content'), headers: keyHeaders } as const;
    expect((await send('s', 'plain', put)).status).toBe(200);
  });

  it('stays under it in a copy within the server', async () => {
    await client.run('cp', ...flag('s/plain/own'), 's/plain/own/object', 's/plain/own-copy');
    expect([await statusOf('s', 'plain', 'own-copy'), await statusOf('s', 'plain', 'own-copy', keyHeaders)]).toEqual([
      400, 200,
    ]);
  });

  it('is not copied to another server, to which the key is not sent unasked', async () => {
    const { code, stderr } = await client.attempt('cp', ...flag('s/plain/own'), 's/plain/own/object', 't/plain/own');
    expect([code, stderr]).toEqual([1, expect.stringContaining('--enc-c t/plain/own=KEY')]);
    expect(await statusOf('t', 'plain', 'own', keyHeaders)).toBe(404);
    await client.run('cp', ...flag('s/plain/own'), ...flag('t/plain'), 's/plain/own/object', 't/plain/own');
    expect([await statusOf('t', 'plain', 'own'), await statusOf('t', 'plain', 'own', keyHeaders)]).toEqual([400, 200]);
  });

  it('is refused by name without its key', async () => {
    const { code, stderr } = await client.attempt('cp', 's/plain/own/object', 's/plain/no-key');
    expect([code, stderr]).toEqual([1, expect.stringContaining('SSE-C')]);
  });
});

describe('a user without a right', { timeout: 120_000 }, () => {
  it.each([
    ['s3:GetObjectRetention', 'cp -a', 'locked-too'],
    ['s3:GetObjectLegalHold', 'mv', 'locked-too'],
    ['s3:PutObjectRetention', 'cp -a', 'locked-too'],
    ['s3:PutObjectLegalHold', 'mv', 'locked-too'],
    ['s3:PutObjectTagging', 'cp', 'locked-too'],
    ['s3:GetObjectTagging', 'cp', 'locked-too'],
    ['s3:GetObjectTagging', 'cp', 'elsewhere'],
  ])('of %s gets no %s to %s, and nothing is written', async (action, way, to) => {
    const name = action.slice(3).toLowerCase();
    const Statement = [
      { Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::*' },
      { Effect: 'Deny', Action: action, Resource: 'arn:aws:s3:::*' },
    ];
    const policy = await client.file(`${name}.json`, JSON.stringify({ Version: '2012-10-17', Statement }));
    await client.run('admin', 'policy', 'create', 's', name, policy);
    await client.attempt('admin', 'user', 'add', 's', name, 'secret-of-user');
    await client.attempt('admin', 'policy', 'attach', 's', name, '--user', name);
    await client.attemptWith({ input: `${name}\nsecret-of-user\n` }, 'alias', 'set', 'limited', servers.s.s3);
    await putWhole('lock', 'limited/object', 'none');
    const target = to === 'elsewhere' ? 't/plain/' : `limited/${to}/`;
    const { code, stderr } = await run(way, 'limited/lock/limited/', `${target}${name}/`);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/Access Denied|you may not read/i)]);
    const [server, bucket] = to === 'elsewhere' ? (['t', 'plain'] as const) : (['s', to] as const);
    expect((await send(server, bucket, { method: 'HEAD', key: `${name}/object` })).status).toBe(404);
  });
});
