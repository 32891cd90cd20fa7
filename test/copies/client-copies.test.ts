import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
    for (const bucket of ['versions', 'by-default']) await client.run('mb', '--with-versioning', `${name}/${bucket}`);
    for (const bucket of ['lock', 'locked-too']) await client.run('mb', '--with-lock', `${name}/${bucket}`);
    if (name !== 'bare') await client.run('encrypt', 'set', 'sse-s3', `${name}/by-default`);
  }
}, 360_000);

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

/** Everything that an answer shows of an object, by the rows of the table. It is read without the functions that make the copies. */
async function attributes(server: keyof typeof servers, bucket: string, key: string) {
  const sent = { 'x-amz-checksum-mode': 'ENABLED' };
  const { status, headers } = await send(server, bucket, { method: 'HEAD', key, headers: sent });
  expect(status).toBe(200);
  const below = (prefix: string) => Object.entries(headers).filter(([name]) => name.startsWith(prefix));
  const content = ['type', 'encoding', 'disposition', 'language'].map((name) => headers[`content-${name}`]);
  const keyName = headers['x-amz-server-side-encryption-aws-kms-key-id'];
  const [mode, until] = ['mode', 'retain-until-date'].map((name) => headers[`x-amz-object-lock-${name}`]);
  const tags = await send(server, bucket, { method: 'GET', key, query: { tagging: '' } });
  return {
    'content headers': [...content, headers['cache-control']],
    Expires: headers['expires'],
    'user metadata': [Object.fromEntries(below('x-amz-meta-')), headers['x-amz-missing-meta']],
    tags: tags.text.replaceAll(/<\?.*\?>\s*/g, ''),
    'website redirect': headers['x-amz-website-redirect-location'],
    'storage class': headers['x-amz-storage-class'],
    encryption: headers['x-amz-server-side-encryption'] && {
      scheme: headers['x-amz-server-side-encryption'],
      context: headers['x-amz-server-side-encryption-context'],
      bucketKey: headers['x-amz-server-side-encryption-bucket-key-enabled'],
      ...(keyName !== undefined && { keyName }),
    },
    'checksum algorithm': below('x-amz-checksum-').map(([name, value]) => (name.endsWith('-type') ? value : name)),
    retention: mode && { mode, until },
    'legal hold': headers['x-amz-object-lock-legal-hold'],
  };
}

const statusOf = async (server: keyof typeof servers, bucket: string, key: string, headers = {}) =>
  (await send(server, bucket, { method: 'HEAD', key, headers })).status;

const encryptions = Object.keys(encryptionHeaders) as readonly Encryption[];
/** The names of the flags by way, and whether a lock comes along. */
const ways: readonly (readonly [string, boolean])[] = [
  ['cp', false],
  ['cp -a', true],
  ['mv', true],
  ['mirror', false],
  ['mirror -a', true],
];
/** The buckets of a copy. Those with a default encryption have versions too, as the buckets of their sources. */
const targets = [
  { server: 's', kind: 'plain', bucket: 'more' },
  { server: 's', kind: 'by-default', bucket: 'by-default' },
  { server: 's', kind: 'lock', bucket: 'locked-too' },
  { server: 't', kind: 'by-default', bucket: 'by-default' },
  { server: 't', kind: 'lock', bucket: 'lock' },
] as const;
type Kind = (typeof targets)[number]['kind'];

let count = 0;

async function run(way: string, from: string, to: string): Promise<{ code: number | null; stderr: string }> {
  const [command = '', ...flags] = way.split(' ');
  // A mirror copies a folder.
  const args = command === 'mirror' ? [from, to] : [`${from}object`, `${to}object`];
  return client.attempt(command, ...flags, ...args);
}

/** A bucket with a default encryption would encrypt the sources too. */
const sourceBucket = (kind: Kind) => (kind === 'by-default' ? 'versions' : kind);

describe('a copy by the client is equal to its source', { timeout: 360_000 }, () => {
  it.each(
    ways.flatMap(([way, keepsLock]) =>
      targets.flatMap((target) => encryptions.map((encryption) => ({ way, keepsLock, ...target, encryption }))),
    ),
  )('$way to $server, bucket $kind, encryption $encryption', async (one) => {
    const { way, keepsLock, server, kind, bucket, encryption } = one;
    const folder = `${(count += 1)}/`;
    const from = sourceBucket(kind);
    await putWhole(from, `${folder}object`, encryption);
    const source = await attributes('s', from, `${folder}object`);
    const { code, stderr } = await run(way, `s/${from}/${folder}`, `${server}/${bucket}/${folder}`);
    expect(code, stderr).toBe(0);
    const copy = await attributes(server, bucket, `${folder}object`);
    expectCopy(keepsLock ? 'client: mv, cp -a, mirror -a' : 'client: cp, mirror', source, copy, {
      ...(server === 't' && { otherKey: 'arn:aws:kms:key-2' }),
      ...(kind === 'by-default' && { bucketDefault: 'AES256' }),
    });
    expect(stderr.includes('locks of 1 object are left behind')).toBe(kind === 'lock' && !keepsLock);
  });
});

describe('a copy by the client is refused before anything is written', { timeout: 360_000 }, () => {
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
    const source = await attributes('s', 'plain', 'secret/object');
    expect(await attributes('bare', 'plain', 'said/object')).toEqual({ ...source, encryption: undefined });
  });
});

describe('the flags take the place of what a source has', { timeout: 360_000 }, () => {
  beforeAll(() => putWhole('plain', 'given/object', 'SSE-KMS'));

  it.each(['s', 't'] as const)('in a copy to %s', async (server) => {
    const flags = `cp --enc-s3 ${server}/plain --tags a=b --attr content-type=text/css;x=y --sc STANDARD`;
    const { code, stderr } = await run(flags, 's/plain/given/', `${server}/plain/new/`);
    expect([code, stderr]).toEqual([0, '']);
    const source = await attributes('s', 'plain', 'given/object');
    const [metadata, missing] = source['user metadata'];
    expect(await attributes(server, 'plain', 'new/object')).toEqual({
      ...source,
      tags: expect.stringContaining('<TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet>') as string,
      'content headers': ['text/css', ...source['content headers'].slice(1)],
      'user metadata': [{ ...(metadata as object), 'x-amz-meta-x': 'y' }, missing],
      'storage class': undefined,
      encryption: { scheme: 'AES256' },
    });
  });
});

describe('an object under the key of the client', { timeout: 360_000 }, () => {
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

/** An alias of a user with these statements. */
async function aliasOf(name: string, ...Statement: readonly object[]): Promise<string> {
  const policy = await client.file(`${name}.json`, JSON.stringify({ Version: '2012-10-17', Statement }));
  await client.run('admin', 'policy', 'create', 's', name, policy);
  await client.attempt('admin', 'user', 'add', 's', name, 'secret-of-user');
  await client.attempt('admin', 'policy', 'attach', 's', name, '--user', name);
  await client.attemptWith({ input: `${name}\nsecret-of-user\n` }, 'alias', 'set', name, servers.s.s3);
  return name;
}

describe('a user without a right', { timeout: 360_000 }, () => {
  it.each([
    ['s3:GetObjectRetention', 'cp -a', 'locked-too'],
    ['s3:GetObjectLegalHold', 'mv', 'locked-too'],
    ['s3:PutObjectRetention', 'cp -a', 'locked-too'],
    ['s3:PutObjectLegalHold', 'mv', 'locked-too'],
    ['s3:PutObjectTagging', 'cp', 'locked-too'],
    ['s3:GetObjectTagging', 'cp', 'locked-too'],
    ['s3:GetObjectTagging', 'cp', 'elsewhere'],
  ])('of %s gets no %s to %s, and nothing is written', async (action, way, to) => {
    const alias = await aliasOf(
      `${action.slice(3).toLowerCase()}-${to}`,
      { Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::*' },
      { Effect: 'Deny', Action: action, Resource: 'arn:aws:s3:::*' },
    );
    await putWhole('lock', 'limited/object', 'none');
    const target = to === 'elsewhere' ? 't/plain/' : `${alias}/${to}/`;
    const { code, stderr } = await run(way, `${alias}/lock/limited/`, `${target}${alias}/`);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/Access Denied|you may not read/i)]);
    const [server, bucket] = to === 'elsewhere' ? (['t', 'plain'] as const) : (['s', to] as const);
    expect(await statusOf(server, bucket, `${alias}/object`)).toBe(404);
  });
});

describe('a user with the rights of the copies alone', { timeout: 360_000 }, () => {
  it.each(['cp -a', 'mv', 'mirror -a'])('makes a whole copy by %s', async (way) => {
    const read = ['s3:GetObject', 's3:GetObjectTagging', 's3:GetObjectRetention', 's3:GetObjectLegalHold'];
    const write = ['s3:PutObject', 's3:PutObjectTagging', 's3:PutObjectRetention', 's3:PutObjectLegalHold'];
    const alias = await aliasOf(
      `by-${way.replaceAll(/\W/g, '-')}`,
      { Effect: 'Allow', Action: ['s3:ListBucket', ...read, 's3:DeleteObject'], Resource: 'arn:aws:s3:::lock*' },
      { Effect: 'Allow', Action: ['s3:ListBucket', ...write], Resource: 'arn:aws:s3:::locked-too*' },
      { Effect: 'Allow', Action: 'kms:*', Resource: '*' },
    );
    const folder = `entitled-${alias}/`;
    await putWhole('lock', `${folder}object`, 'SSE-KMS');
    const source = await attributes('s', 'lock', `${folder}object`);
    const { code, stderr } = await run(way, `${alias}/lock/${folder}`, `${alias}/locked-too/${folder}`);
    expect([code, stderr]).toEqual([0, '']);
    expectCopy('client: mv, cp -a, mirror -a', source, await attributes('s', 'locked-too', `${folder}object`));
  });
});
