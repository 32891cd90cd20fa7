import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createKeyLifecycle } from '../maintenance/rewrap/key-lifecycle.ts';
import { put, testLayer } from '../../test/support/objects/test-layer.ts';
import { readRewrapState, writeRewrapState } from '../maintenance/rewrap/rewrap-state.ts';
import { KeyProof } from '../encryption/key-proof.ts';
import { keyServiceKeys } from '../encryption/key-service-keys.ts';
import { adminTest } from '../../test/support/admin/admin.ts';

const kms = (keyName: string) => ({ encryption: { scheme: 'SSE-KMS', keyName } }) as const;

/** The admin API beside objects in memory that a key service in memory encrypts. */
async function prepared(now = Date.now()) {
  const { records, keyService: service } = testLayer();
  const keys = keyServiceKeys(service, { defaultKey: 'default-key', proof: new KeyProof({ records }) });
  const test = { ...testLayer({ records, keys }), keyService: service };
  const { keyService } = test;
  await test.layer.createBucket('bucket', { location: '' });
  const admin = await adminTest({
    services: {
      keys: {
        name: 'KES',
        endpoints: ['https://127.0.0.1:7373', 'https://gone:7373'],
        source: test.keys,
        answers: (endpoint) => Promise.resolve(!endpoint.includes('gone')),
        createKey: (name) => keyService.createKey(name),
        importKey: async (name, bytes) => {
          await keyService.createKey(name);
          keyService.keys.set(name, bytes);
        },
        rotateKey: (name) => keyService.rotateKey(name),
        describeKey: async (name) => ({ algorithm: 'AES256', versions: await keyService.versionsOf(name) }),
        listKeys: (prefix) =>
          Promise.resolve([...keyService.keys.keys()].filter((name) => name.startsWith(prefix)).sort()),
        deleteKey: (name) => Promise.resolve(void keyService.keys.delete(name)),
        version: () => Promise.resolve('0.1.0'),
        apis: () => Promise.resolve([{ method: 'GET', path: '/version', maxBody: 0, timeout: 15 }]),
        metrics: () => Promise.resolve('kes_http_request_active 2\n'),
      },
      keyLifecycle: createKeyLifecycle(test.records, { clock: () => now }),
    },
  });
  const callAs = async (by: string, method: string, target: string, sent: object = {}) => {
    const { status, value } = await admin.call(by, method, target, sent);
    return { status, value };
  };
  const call = (method: string, target: string, sent: object = {}) => callAs('root', method, target, sent);
  /** A user who has one policy of these statements. */
  const user = async (accessKey: string, ...statements: readonly object[]) => {
    await admin.identities.putUser({ accessKey, secretKey: `${accessKey}-password` });
    await admin.identities.putPolicy(accessKey, JSON.stringify({ Version: '2012-10-17', Statement: statements }));
    await admin.identities.attach({ kind: 'user', name: accessKey }, [accessKey]);
    return (method: string, target: string, sent: object = {}) => callAs(accessKey, method, target, sent);
  };
  return { ...test, call, user };
}

const own = '/minio/admin/coffer/v1/kms/key';

describe('keys over the admin API', () => {
  it('are made, imported and listed, under both names that the calls have', async () => {
    const { call, keyService } = await prepared();
    const bytes = randomBytes(32);
    expect(await call('POST', '/minio/kms/v1/key/create?key-id=tenant-a')).toMatchObject({ status: 200 });
    const body = { plain: JSON.stringify({ bytes: bytes.toString('base64') }) };
    expect(await call('POST', '/minio/kms/v1/key/import?key-id=tenant-b', body)).toMatchObject({ status: 200 });
    expect(keyService.keys.get('tenant-b')).toEqual(bytes);
    for (const prefix of ['/minio/kms/v1', '/minio/admin/v3/kms']) {
      const list = async (pattern: string) => (await call('GET', `${prefix}/key/list?pattern=${pattern}`)).value;
      expect(await list('*')).toEqual([{ name: 'default-key' }, { name: 'tenant-a' }, { name: 'tenant-b' }]);
      expect(await list('tenant-*')).toEqual([{ name: 'tenant-a' }, { name: 'tenant-b' }]);
      expect(await list('tenant-a')).toEqual([{ name: 'tenant-a' }]);
      expect(await list('tenant')).toEqual([]);
      expect(await list('*b')).toEqual([{ name: 'tenant-b' }]);
      expect(await list('t*-*a')).toEqual([{ name: 'tenant-a' }]);
      expect(await list('')).toHaveLength(3);
    }
  });

  it('say what the key service is, under both names that the calls have', async () => {
    const { call } = await prepared();
    for (const prefix of ['/minio/kms/v1', '/minio/admin/v3/kms']) {
      expect(await call('GET', `${prefix}/version`)).toEqual({ status: 200, value: { version: '0.1.0' } });
      expect(await call('GET', `${prefix}/apis`)).toEqual({
        status: 200,
        value: [{ Method: 'GET', Path: '/version', MaxBody: 0, Timeout: 15 }],
      });
      expect(await call('GET', `${prefix}/metrics`)).toMatchObject({
        status: 200,
        value: { kes_http_request_active: 2 },
      });
    }
  });

  it('say it to those who may know it', async () => {
    const { user } = await prepared();
    const reader = await user('reader', { Effect: 'Allow', Action: ['kms:Version', 'kms:API', 'kms:Metrics'] });
    const other = await user('other', { Effect: 'Allow', Action: ['kms:Status'] });
    for (const what of ['version', 'apis', 'metrics']) {
      expect(await reader('GET', `/minio/kms/v1/${what}`)).toMatchObject({ status: 200 });
      expect(await other('GET', `/minio/kms/v1/${what}`)).toMatchObject({ status: 403 });
    }
  });

  it.each([
    ['of 31 bytes', { bytes: randomBytes(31).toString('base64') }, 'XCofferInvalidRequest'],
    ['that is no base64', { bytes: '!' }, 'XMinioAdminConfigBadJSON'],
    ['without bytes', {}, 'XMinioAdminConfigBadJSON'],
  ])('refuse to import a key %s', async (_what, content, Code) => {
    const { call } = await prepared();
    const body = { plain: JSON.stringify(content) };
    expect(await call('POST', '/minio/kms/v1/key/import?key-id=k', body)).toMatchObject({
      status: 400,
      value: { Code },
    });
  });

  it('are removed when nothing uses them, and their names come back some minutes later', async () => {
    const { call, keyService } = await prepared();
    await call('POST', '/minio/kms/v1/key/create?key-id=k');
    expect(await call('DELETE', '/minio/kms/v1/key/delete?key-id=k')).toMatchObject({
      status: 200,
      value: { lost: null },
    });
    expect(keyService.keys.has('k')).toBe(false);
    expect(await call('POST', '/minio/kms/v1/key/create?key-id=k')).toMatchObject({
      status: 409,
      value: { Code: 'XCofferRefused', Message: expect.stringMatching(/try again in \d+ seconds/) },
    });
  });

  it('are not removed while something uses them, unless by name', async () => {
    const { call, layer, keyService } = await prepared();
    keyService.keys.set('k', Buffer.alloc(32, 1));
    await layer.putObject(put('bucket', 'a', 'x', kms('k')));
    const rejected = { status: 409, value: { Message: expect.stringContaining('used by 1 object') } };
    expect(await call('DELETE', '/minio/kms/v1/key/delete?key-id=k')).toMatchObject(rejected);
    for (const force of ['true', '']) {
      const answer = await call('DELETE', `/minio/kms/v1/key/delete?key-id=k&force=${force}`);
      expect(answer).toMatchObject({ status: 400, value: { Code: 'XCofferInvalidRequest' } });
    }
    expect(await call('GET', `${own}/usage`)).toMatchObject({ value: { keys: { k: { objects: 1 } } } });
    expect(await call('DELETE', '/minio/kms/v1/key/delete?key-id=k&force=k')).toMatchObject({
      status: 200,
      value: { lost: { objects: 1 } },
    });
    expect(keyService.keys.has('k')).toBe(false);
  });

  it('are at a key service each endpoint of which has its own state', async () => {
    const { call } = await prepared();
    expect(await call('GET', '/minio/kms/v1/status')).toMatchObject({
      status: 200,
      value: { endpoints: { 'https://127.0.0.1:7373': 'online', 'https://gone:7373': 'offline' } },
    });
  });

  it('are described with their versions, to those who may have their state', async () => {
    const { call, user, keyService } = await prepared();
    const first = await call('GET', `${own}/describe?key-id=default-key`);
    expect(first).toMatchObject({ status: 200, value: { name: 'default-key', algorithm: 'AES256' } });
    const version = await keyService.rotateKey('default-key');
    const { value } = await call('GET', `${own}/describe?key-id=default-key`);
    expect(value).toMatchObject({ versions: [...(first.value as { versions: string[] }).versions, version] });
    expect(await call('GET', `${own}/describe?key-id=no-such-key`)).toMatchObject({
      status: 404,
      value: { Code: 'XMinioKMSKeyNotFound' },
    });
    const other = { Effect: 'Allow', Action: 'kms:KeyStatus', Resource: 'arn:minio:kms:::other' };
    const ann = await user('ann', other);
    expect(await ann('GET', `${own}/describe?key-id=default-key`)).toMatchObject({ status: 403 });
  });

  it('are not described where the key service does not let the server', async () => {
    const { call, keyService } = await prepared();
    keyService.refusing = 'describe';
    expect(await call('GET', `${own}/describe?key-id=default-key`)).toMatchObject({
      value: { Code: 'KMSNotPermitted', Message: expect.stringContaining('/v1/key/describe/default-key') },
    });
  });

  it.each(['default-key', 'no-such-key'])('are not removed: %s', async (name) => {
    const { call } = await prepared();
    const answer = await call('DELETE', `/minio/kms/v1/key/delete?key-id=${name}&force=${name}`);
    expect(answer.status).toBe(name === 'default-key' ? 409 : 404);
  });
});

describe('a change of keys', () => {
  it('is asked for, and told how far it is', async () => {
    const { call, keyService, records } = await prepared(5);
    keyService.keys.set('old', Buffer.alloc(32, 1)).set('new', Buffer.alloc(32, 2));
    const asked = await call('POST', `${own}/rotate?key-id=old&to=new&rate=50`);
    const state = { from: 'old', to: 'new', mode: 'reseal', objectsPerSecond: 50, started: 5, done: 0 };
    expect(asked).toMatchObject({ status: 200, value: state });
    expect(await call('GET', `${own}/rotate`)).toMatchObject({ value: { rotation: state } });
    expect(await readRewrapState(records)).toMatchObject(state);
  });

  it('is to a new version of it where no other key is named', async () => {
    const { call, keyService } = await prepared();
    const before = keyService.keys.get('default-key');
    const { value } = await call('POST', `${own}/rotate?key-id=default-key`);
    expect(value).toMatchObject({ to: 'default-key', version: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(keyService.former.get('default-key')).toEqual([before]);
  });

  it('is to the newest version that there is where none is to be made', async () => {
    const { call, keyService } = await prepared();
    const { value } = await call('POST', `${own}/rotate?key-id=default-key&version=newest`);
    expect(value).toMatchObject({ to: 'default-key' });
    expect(value).not.toHaveProperty('version');
    expect(keyService.former.size).toBe(0);
  });

  it('makes no version while another change is under way', async () => {
    const { call, keyService } = await prepared();
    keyService.keys.set('other', Buffer.alloc(32, 1));
    await call('POST', `${own}/rotate?key-id=default-key`);
    expect(await call('POST', `${own}/rotate?key-id=other`)).toMatchObject({ status: 409 });
    expect(keyService.former.has('other')).toBe(false);
  });

  it('says what the key service must allow, and what to do where it is not to', async () => {
    const { call, keyService } = await prepared();
    keyService.refusing = 'rotate';
    expect(await call('POST', `${own}/rotate?key-id=default-key`)).toMatchObject({
      status: 403,
      value: {
        Code: 'KMSNotPermitted',
        Message: expect.stringMatching(/allow \/v1\/key\/rotate\/default-key in its policy.*version=newest/),
      },
    });
    expect(await call('GET', `${own}/rotate`)).toMatchObject({ value: { rotation: null } });
  });

  it('waits for the one before', async () => {
    const { call, records } = await prepared();
    await call('POST', `${own}/rotate?key-id=default-key`);
    expect(await call('POST', `${own}/rotate?key-id=default-key`)).toMatchObject({ status: 409 });
    const state = await readRewrapState(records);
    if (state !== undefined) await writeRewrapState(records, { ...state, finished: 9 }, randomBytes);
    expect(await call('POST', `${own}/rotate?key-id=default-key`)).toMatchObject({ status: 200 });
  });

  it.each([
    ['from a key that is not there', 'key-id=no-such-key', 404],
    ['to a key that is not there', 'key-id=default-key&to=no-such-key', 404],
    ['to a version of another key', 'key-id=default-key&to=default-key&version=new', 400],
    ['in a way that is none', 'key-id=default-key&mode=magic', 400],
    ['at no rate', 'key-id=default-key&rate=0', 400],
  ])('is refused %s', async (_what, query, status) => {
    const { call } = await prepared();
    expect(await call('POST', `${own}/rotate?${query}`)).toMatchObject({ status });
  });
});

const tenantKeys = { Resource: 'arn:minio:kms:::tenant-a-*' };

/** Every call that names a key, about the key KEY. */
const callsOfOneKey = [
  ['GET', '/minio/kms/v1/key/status?key-id=KEY'],
  ['GET', '/minio/admin/v3/kms/key/status?key-id=KEY'],
  ['POST', '/minio/kms/v1/key/create?key-id=KEY'],
  ['POST', '/minio/admin/v3/kms/key/create?key-id=KEY'],
  ['POST', '/minio/kms/v1/key/import?key-id=KEY'],
  ['DELETE', '/minio/kms/v1/key/delete?key-id=KEY'],
  ['POST', `${own}/rotate?key-id=KEY`],
] as const;

describe('rights to keys', () => {
  const denied = { status: 403, value: { Code: 'AccessDenied' } };

  describe.each([
    ['kms:*', { Effect: 'Allow', Action: 'kms:*', ...tenantKeys }],
    ['admin:KMS*', { Effect: 'Allow', Action: 'admin:KMS*', ...tenantKeys }],
    ['all actions', { Effect: 'Allow', Action: '*', ...tenantKeys }],
  ])('%s on the keys of a tenant', (_what, statement) => {
    it.each(callsOfOneKey)('reach no other key: %s %s', async (method, target) => {
      const { user, keyService } = await prepared();
      keyService.keys.set('tenant-b', Buffer.alloc(32, 1));
      const ann = await user('ann', statement);
      expect(await ann(method, target.replace('KEY', 'tenant-b'))).toMatchObject(denied);
      expect((await ann(method, target.replace('KEY', 'tenant-a-1'))).status).not.toBe(403);
    });

    it('do not reach the default key where none is named', async () => {
      const { user } = await prepared();
      expect(await (await user('ann', statement))('GET', '/minio/kms/v1/key/status')).toMatchObject(denied);
    });
  });

  it('lists and usage show the keys of the caller alone', async () => {
    const { user, keyService, layer } = await prepared();
    keyService.keys.set('tenant-a-1', Buffer.alloc(32, 1)).set('tenant-b', Buffer.alloc(32, 2));
    await layer.putObject(put('bucket', 'a', 'x', kms('tenant-a-1')));
    await layer.putObject(put('bucket', 'b', 'x', kms('tenant-b')));
    const ann = await user('ann', { Effect: 'Allow', Action: 'kms:ListKeys', ...tenantKeys });
    expect(await ann('GET', '/minio/kms/v1/key/list?pattern=*')).toMatchObject({ value: [{ name: 'tenant-a-1' }] });
    expect(await ann('GET', `${own}/usage`)).toMatchObject({ value: { keys: { 'tenant-a-1': { objects: 1 } } } });
    expect((await ann('GET', `${own}/usage`)).value).not.toHaveProperty('keys.tenant-b');
  });

  it('a change of keys needs the right to both, and is shown to those who have it', async () => {
    const { call, user, keyService } = await prepared();
    keyService.keys.set('tenant-a-1', Buffer.alloc(32, 1)).set('tenant-b', Buffer.alloc(32, 2));
    const ann = await user('ann', { Effect: 'Allow', Action: 'kms:RotateKey', ...tenantKeys });
    expect(await ann('POST', `${own}/rotate?key-id=tenant-a-1&to=tenant-b`)).toMatchObject(denied);
    await call('POST', `${own}/rotate?key-id=tenant-a-1&to=tenant-b`);
    expect(await ann('GET', `${own}/rotate`)).toMatchObject({ value: { rotation: null } });
    expect(await call('GET', `${own}/rotate`)).toMatchObject({ value: { rotation: { to: 'tenant-b' } } });
  });

  it.each(['key-id=tenant-a-1&key-id=tenant-b', 'key-id=tenant-a-1&to=tenant-a-1&to=tenant-b'])(
    'a change of keys is refused where a key is named twice, of which one would be authorized: %s',
    async (query) => {
      const { user, keyService } = await prepared();
      keyService.keys.set('tenant-a-1', Buffer.alloc(32, 1)).set('tenant-b', Buffer.alloc(32, 2));
      const ann = await user('ann', { Effect: 'Allow', Action: 'kms:RotateKey', ...tenantKeys });
      const all = await user('root-of-keys', { Effect: 'Allow', Action: 'kms:*', Resource: '*' });
      expect(await ann('POST', `${own}/rotate?${query}`)).toMatchObject({
        status: 400,
        value: { Code: 'XCofferInvalidRequest', Message: expect.stringMatching(/is given more than once/) },
      });
      expect(await all('GET', `${own}/rotate`)).toMatchObject({ value: { rotation: null } });
      expect(await keyService.versionsOf('tenant-b')).toHaveLength(1);
    },
  );

  it('a Deny on one key hides neither the other keys nor their rotation', async () => {
    const { call, user, keyService } = await prepared();
    keyService.keys.set('master', Buffer.alloc(32, 1)).set('old', Buffer.alloc(32, 2)).set('new', Buffer.alloc(32, 3));
    const deny = { Effect: 'Deny', Action: 'kms:*', Resource: 'arn:minio:kms:::master' };
    const ann = await user('ann', { Effect: 'Allow', Action: 'admin:*' }, deny);
    await call('POST', `${own}/rotate?key-id=old&to=new`);
    expect(await ann('GET', `${own}/rotate`)).toMatchObject({ status: 200, value: { rotation: { to: 'new' } } });
    const names = [{ name: 'default-key' }, { name: 'new' }, { name: 'old' }];
    expect(await ann('GET', '/minio/kms/v1/key/list?pattern=*')).toMatchObject({ status: 200, value: names });
    expect(await ann('GET', `${own}/usage`)).toMatchObject({ status: 200 });
  });

  it('hides the rotation of a denied key', async () => {
    const { call, user, keyService } = await prepared();
    keyService.keys.set('master', Buffer.alloc(32, 1)).set('new', Buffer.alloc(32, 3));
    const deny = { Effect: 'Deny', Action: 'kms:RotateKey', Resource: 'arn:minio:kms:::master' };
    const ann = await user('ann', { Effect: 'Allow', Action: 'admin:*' }, deny);
    await call('POST', `${own}/rotate?key-id=master&to=new`);
    expect(await ann('GET', `${own}/rotate`)).toMatchObject({ status: 200, value: { rotation: null } });
    const bob = await user('bob', { Effect: 'Allow', Action: 'admin:ServerInfo' });
    expect(await bob('GET', `${own}/rotate`)).toMatchObject(denied);
  });

  it.each(callsOfOneKey)('a Deny of kms:* on one key holds against admin:*: %s %s', async (method, target) => {
    const { user } = await prepared();
    const deny = { Effect: 'Deny', Action: 'kms:*', Resource: 'arn:minio:kms:::master' };
    const ann = await user('ann', { Effect: 'Allow', Action: 'admin:*' }, deny);
    expect(await ann(method, target.replace('KEY', 'master'))).toMatchObject(denied);
    expect((await ann(method, target.replace('KEY', 'other'))).status).not.toBe(403);
  });

  it("admin:KMS* without a Resource, or with that of MinIO's own policies, is the right to all keys", async () => {
    const { user } = await prepared();
    for (const [name, statement] of Object.entries({
      ann: { Effect: 'Allow', Action: 'admin:*' },
      bob: { Effect: 'Allow', Action: ['admin:*', 's3:*'], Resource: 'arn:aws:s3:::*' },
    })) {
      const call = await user(name, statement);
      expect(await call('POST', `/minio/kms/v1/key/create?key-id=of-${name}`)).toMatchObject({ status: 200 });
    }
  });
});

describe('the canaries of keys over the admin API', () => {
  it('are those of keys under which anything was sealed, each with its state', async () => {
    const { call, layer, keyService } = await prepared();
    await call('POST', '/minio/kms/v1/key/create?key-id=used');
    await call('POST', '/minio/kms/v1/key/create?key-id=unused');
    await layer.putObject(put('bucket', 'a', 'x', kms('used')));
    await layer.putObject(put('bucket', 'b', 'x', kms('default-key')));
    keyService.keys.set('used', randomBytes(32));
    const { status, value } = await call('GET', `${own}/canaries`);
    expect(status).toBe(200);
    expect(value).toMatchObject({
      defaultKey: 'default-key',
      keys: [
        { key: 'default-key', canaries: [{ ciphertext: expect.any(String) }] },
        { key: 'used', error: { code: 'wrong-key' } },
      ],
    });
    expect((value as { keys: object[] }).keys[0]).not.toHaveProperty('error');
  });

  it('are shown to those who may list the keys alone', async () => {
    const { layer, user, call } = await prepared();
    await call('POST', '/minio/kms/v1/key/create?key-id=team-a');
    await layer.putObject(put('bucket', 'a', 'x', kms('team-a')));
    await layer.putObject(put('bucket', 'b', 'x', kms('default-key')));
    const lister = await user('lister', {
      Effect: 'Allow',
      Action: 'kms:ListKeys',
      Resource: 'arn:minio:kms:::team-*',
    });
    const { value } = await lister('GET', `${own}/canaries`);
    expect((value as { keys: { key: string }[] }).keys.map(({ key }) => key)).toEqual(['team-a']);
  });

  it('turn the status of a key red that is another one under an old name', async () => {
    const { call, layer, keyService } = await prepared();
    await layer.putObject(put('bucket', 'a', 'x', kms('default-key')));
    const path = '/minio/kms/v1/key/status?key-id=default-key';
    expect((await call('GET', path)).value).toEqual({ 'key-id': 'default-key' });
    keyService.keys.set('default-key', randomBytes(32));
    expect((await call('GET', path)).value).toMatchObject({
      'decryption-error': expect.stringContaining('changed or wrong key'),
    });
  });

  it('let no key be made anew under a name that sealed data, and let it be imported', async () => {
    const { call, layer, keyService } = await prepared();
    await call('POST', '/minio/kms/v1/key/create?key-id=used');
    await layer.putObject(put('bucket', 'a', 'x', kms('used')));
    const bytes = keyService.keys.get('used') ?? Buffer.alloc(32);
    keyService.keys.delete('used');
    expect(await call('POST', '/minio/kms/v1/key/create?key-id=used')).toMatchObject({
      status: 409,
      value: { Code: 'XCofferRefused', Message: expect.stringContaining('kms key import') },
    });
    expect(keyService.keys.has('used')).toBe(false);
    const body = { plain: JSON.stringify({ bytes: bytes.toString('base64') }) };
    expect(await call('POST', '/minio/kms/v1/key/import?key-id=used', body)).toMatchObject({ status: 200 });
    expect(await call('POST', '/minio/kms/v1/key/create?key-id=used')).toMatchObject({
      value: { Code: 'XMinioKMSKeyExists' },
    });
  });
});
