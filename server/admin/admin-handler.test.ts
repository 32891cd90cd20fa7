import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../http/contract/request.ts';
import { authorize, explainDecision } from '../auth/authorize.ts';
import { createTemporaryCredentials } from '../auth/temporary-credentials.ts';
import { federated, fixedHolders, testIdentities } from '../../test/support/auth/identities.ts';
import type { Principal } from '../auth/principal.ts';
import { builtInPolicies } from '../../protocol/policy/built-in-policies.ts';
import { noKeySource } from '../encryption/key-source.ts';
import { createAdminHandler } from './admin-handler.ts';
import type { KeyAdministration } from '../administration/keys.ts';
import type { AdminServices } from '../administration/services.ts';
import { bodyFrom } from '../objects/contract/body-source.ts';

const root: Principal = { kind: 'root', accessKey: 'root' };
const withPolicy = (policy: string): Principal => ({
  kind: 'temporary',
  accessKey: 'AK',
  subject: federated({ policies: [policy] }),
  expiration: new Date(),
});

const server = {
  deploymentId: 'D',
  version: '0.1.0',
  region: 'us-east-1',
  endpoint: '127.0.0.1:9000',
  dataFolder: '/data',
  startedAt: new Date('2026-01-01T00:00:00Z'),
};

/** A key service of one thread that knows the keys it made. */
function keyService(known: string[] = ['default-key']): KeyAdministration {
  return {
    name: 'KES',
    endpoints: ['https://127.0.0.1:7373'],
    answers: () => Promise.resolve(true),
    source: {
      defaultKey: 'default-key',
      generate: (keyName) => {
        const plaintext = Buffer.from(keyName);
        if (!known.includes(keyName)) return noKeySource.generate(keyName, {});
        return Promise.resolve({ plaintext, sealed: { keyName, ciphertext: plaintext.toString('base64') } });
      },
      unseal: (sealed) => Buffer.from(sealed.ciphertext, 'base64'),
      checkKey: () => Promise.resolve(),
      check: () => (known.includes('default-key') ? Promise.resolve() : Promise.reject(new Error('gone'))),
      proveKey: () => Promise.resolve(),
      adoptKey: () => Promise.resolve(),
    },
    createKey: (name) => {
      if (known.includes(name)) return Promise.reject(Object.assign(new Error('exists'), { code: 'key-exists' }));
      if (name === 'theirs') return Promise.reject(Object.assign(new Error('no'), { code: 'not-permitted' }));
      known.push(name);
      return Promise.resolve();
    },
    importKey: (name) => Promise.resolve(void known.push(name)),
    rotateKey: (name) => Promise.resolve(name),
    describeKey: () => Promise.resolve({ versions: [] }),
    listKeys: (prefix) => Promise.resolve(known.filter((name) => name.startsWith(prefix))),
    deleteKey: (name) => Promise.resolve(void known.splice(known.indexOf(name), 1)),
    version: () => Promise.resolve('0.1.0'),
    apis: () => Promise.resolve([{ method: 'GET', path: '/version', maxBody: 0, timeout: 15 }]),
    metrics: () => Promise.resolve('kes_http_request_active 2\n'),
  };
}

const clock = () => new Date();

async function identityServices() {
  const { records, identities } = await testIdentities();
  const temporary = createTemporaryCredentials({ records, tokenKey: new Uint8Array(64), clock });
  return { identities, temporary, root: { user: 'root' } };
}

const noSources = {
  bucketAccess: () => Promise.resolve(undefined),
  objectTags: () => Promise.resolve(undefined),
  objectAcl: () => Promise.resolve(undefined),
};

async function call(method: string, target: string, principal: Principal, changes: Partial<AdminServices> = {}) {
  const handle = createAdminHandler({
    authenticate: () => Promise.resolve({ principal, body: bodyFrom(Readable.from([])), size: undefined }),
    ...(await identityServices()),
    access: {
      credentials: () => Promise.resolve(undefined),
      authorize: (request) => authorize(request, fixedHolders(builtInPolicies), noSources),
      explain: (request) => explainDecision(request, fixedHolders(builtInPolicies), noSources),
    },
    objects: { listBuckets: () => Promise.resolve([{ name: 'b', created: new Date(), location: '' }]) },
    server,
    space: () => Promise.resolve({ free: 30, total: 100 }),
    clock: () => new Date('2026-01-01T00:01:00Z'),
    ...changes,
  });
  const [rawPath = '', rawQuery = ''] = target.split('?');
  const answer = await handle({
    requestId: 'R',
    method,
    rawPath,
    rawQuery,
    headers: {},
    body: bodyFrom(Readable.from([])),
    secure: false,
    remoteAddress: '127.0.0.1',
  });
  return { status: answer.status, json: jsonOf(answer) };
}

function jsonOf({ body }: Answer): unknown {
  return body.kind === 'bytes' ? (JSON.parse(body.bytes.toString()) as unknown) : undefined;
}

describe('GET info', () => {
  it('tells how the background tasks fare', async () => {
    const failure = { since: 2_000, attempts: 3, error: 'the disk is away', retryAt: 8_000 };
    const backgroundTasks = () => Promise.resolve([{ task: 'keys' }, { task: 'usage', lastSuccess: 1_000, failure }]);
    const { json } = await call('GET', '/minio/admin/v3/info', root, { backgroundTasks });
    expect(json).toMatchObject({
      backgroundTasks: [
        { task: 'keys', state: 'ok' },
        {
          task: 'usage',
          state: 'failing',
          lastSuccess: '1970-01-01T00:00:01.000Z',
          since: '1970-01-01T00:00:02.000Z',
          attempts: 3,
          error: 'the disk is away',
          nextAttempt: '1970-01-01T00:00:08.000Z',
        },
      ],
    });
  });

  it('shows one server with one drive', async () => {
    const { status, json } = await call('GET', '/minio/admin/v3/info', root);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      mode: 'online',
      deploymentID: 'D',
      region: 'us-east-1',
      buckets: { count: 1 },
      services: { kms: { status: 'disabled' } },
      backend: { backendType: 'Erasure', onlineDisks: 1 },
      servers: [
        {
          state: 'online',
          endpoint: '127.0.0.1:9000',
          uptime: 60,
          version: '0.1.0',
          drives: [{ state: 'ok', path: '/data', totalspace: 100, usedspace: 70, availspace: 30 }],
        },
      ],
    });
  });

  it('says whether the key service answers', async () => {
    const online = await call('GET', '/minio/admin/v3/info', root, { keys: keyService() });
    expect(online.json).toMatchObject({ services: { kms: { status: 'online' } } });
    const offline = await call('GET', '/minio/admin/v3/info', root, { keys: keyService([]) });
    expect(offline.json).toMatchObject({ services: { kms: { status: 'offline' } } });
  });

  it.each(['diagnostics', 'consoleAdmin'])('is open to %s', async (policy) => {
    expect((await call('GET', '/minio/admin/v3/info', withPolicy(policy))).status).toBe(200);
  });

  it.each(['readonly', 'readwrite', 'writeonly'])('is closed to %s', async (policy) => {
    await expect(call('GET', '/minio/admin/v3/info', withPolicy(policy))).rejects.toMatchObject({
      code: 'AccessDenied',
    });
  });

  it('is closed to strangers, who do not learn which calls there are', async () => {
    for (const path of ['/minio/admin/v3/info', '/minio/admin/v3/nothing']) {
      await expect(call('GET', path, { kind: 'anonymous' })).rejects.toMatchObject({ code: 'AccessDenied' });
    }
  });
});

describe('key calls', () => {
  it.each(['/minio/kms/v1', '/minio/admin/v3/kms'])('create a key below %s', async (base) => {
    const keys = keyService();
    expect((await call('POST', `${base}/key/create?key-id=new-key`, root, { keys })).status).toBe(200);
    const status = await call('GET', `${base}/key/status?key-id=new-key`, root, { keys });
    expect(status.json).toEqual({ 'key-id': 'new-key' });
  });

  it.each([
    ['that exists', 'default-key', 409, 'XMinioKMSKeyExists'],
    ['with a bad name', 'a/b', 400, 'XMinioKMSInvalidKeyName'],
    ['without a name', '', 400, 'XMinioKMSInvalidKeyName'],
    ['that the key service keeps from us', 'theirs', 403, 'KMSNotPermitted'],
  ])('refuse a key %s', async (_, name, status, code) => {
    const target = `/minio/kms/v1/key/create?key-id=${encodeURIComponent(name)}`;
    const rejected = await call('POST', target, root, { keys: keyService() });
    expect(rejected).toMatchObject({ status, json: { Code: code, RequestId: 'R' } });
  });

  it('say that no key service is configured', async () => {
    const rejected = await call('GET', '/minio/kms/v1/status', root);
    expect(rejected).toMatchObject({ status: 501, json: { Code: 'KMSNotConfigured' } });
  });

  it('show the state of the key service, and of a key that cannot be used', async () => {
    const keys = keyService();
    expect((await call('GET', '/minio/kms/v1/status', root, { keys })).json).toEqual({
      name: 'KES',
      'default-key-id': 'default-key',
      endpoints: { 'https://127.0.0.1:7373': 'online' },
    });
    const broken = await call('GET', '/minio/kms/v1/key/status?key-id=other', root, { keys });
    expect(broken.json).toMatchObject({ 'key-id': 'other', 'encryption-error': expect.any(String) as string });
  });

  it('need the right to create keys', async () => {
    const target = '/minio/kms/v1/key/create?key-id=k';
    await expect(call('POST', target, withPolicy('diagnostics'), { keys: keyService() })).rejects.toMatchObject({
      code: 'AccessDenied',
    });
    expect((await call('POST', target, withPolicy('consoleAdmin'), { keys: keyService() })).status).toBe(200);
  });
});

it('refuses a call that it does not offer by the status by which clients do without it', async () => {
  const Message = 'This server does not offer the admin call GET /minio/admin/v3/no-such-call.';
  const refused = { status: 426, json: { Code: 'XMinioAdminVersionMismatch', Message } };
  expect(await call('GET', '/minio/admin/v3/no-such-call', root)).toMatchObject(refused);
});

it('refuses other methods', async () => {
  await expect(call('DELETE', '/minio/admin/v3/info', root)).rejects.toMatchObject({ code: 'MethodNotAllowed' });
});
