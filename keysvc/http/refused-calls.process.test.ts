import { beforeAll, describe, expect, it } from 'vitest';
import { KeyError } from '../keystores/keystore.ts';
import { messageOf, testKeyServer } from '../../test/support/keysvc/test-key-service.ts';

const server = testKeyServer();

// The key of the refused calls.
beforeAll(async () => {
  await server.ask('POST', '/v1/key/create/by-POST');
});

describe('the key server refuses', () => {
  it('a path that is none', async () => {
    const rejected = await server.ask('GET', '/v1/nothing');
    expect([rejected.status, messageOf(rejected)]).toEqual([501, 'not implemented']);
    expect(rejected.headers['x-content-type-options']).toBe('nosniff');
  });

  it.each(['//v1/status', '/v1//status', '/v1/key/create//x', '/v1/key/create/%2Fx', '/v1/key/list//'])(
    'a path with an empty segment: %s',
    async (path) => {
      const rejected = await server.ask('GET', path);
      expect([rejected.status, messageOf(rejected)]).toEqual([404, expect.stringContaining('has an empty segment')]);
    },
  );

  it('a name that its key store can never hold, and tells what the store says', async () => {
    server.store.failure = new KeyError('invalid-name', 'the vault cannot hold the key "a_b"');
    const name = await server.ask('POST', '/v1/key/create/a_b');
    server.store.failure = new KeyError('refused', 'the vault holds a deleted key "a": recover it');
    const deleted = await server.ask('POST', '/v1/key/create/a');
    server.store.failure = undefined;
    expect([name.status, messageOf(name)]).toEqual([400, 'invalid argument: the vault cannot hold the key "a_b"']);
    expect([deleted.status, messageOf(deleted)]).toEqual([
      502,
      'bad gateway: failed to create key: the vault holds a deleted key "a": recover it',
    ]);
  });

  it('a method that is not that of the call, and names the right one', async () => {
    const rejected = await server.ask('GET', '/v1/key/create/x');
    expect([rejected.status, messageOf(rejected), rejected.headers['accept']]).toEqual([
      405,
      'Method Not Allowed',
      'POST, PUT',
    ]);
  });

  it.each([
    ['/v1/key/create', 'invalid argument: name is empty'],
    ['/v1/key/create/', 'invalid argument: name is empty'],
    ['/v1/key/create/a%2Fb', 'invalid argument: name contains invalid character'],
    [`/v1/key/create/${'x'.repeat(81)}`, 'invalid argument: name is too long'],
    ['/v1/key/create/%zz', 'invalid argument: the path is not valid'],
  ])('the name in %s', async (path, text) => {
    const rejected = await server.ask('POST', path);
    expect([rejected.status, messageOf(rejected)]).toEqual([400, text]);
  });

  it.each([
    ['/v1/key/decrypt/by-POST', 'not json', /not valid JSON/],
    ['/v1/key/decrypt/by-POST', '{}', /"ciphertext" is missing/],
    ['/v1/key/encrypt/by-POST', '{"plaintext":"***"}', /"plaintext" is missing or not of its form/],
    ['/v1/key/encrypt/by-POST', '[]', /not of its form/],
    ['/v1/key/bulk/decrypt/by-POST', '{}', /not of its form/],
  ])('%s with the body %s', async (path, body, text) => {
    const rejected = await server.ask('POST', path, body);
    expect(rejected.status).toBe(400);
    expect(messageOf(rejected)).toMatch(text);
  });

  it('a body of more than 1 MiB', async () => {
    const rejected = await server.ask('POST', '/v1/key/encrypt/by-POST', `{"plaintext":"${'A'.repeat(1024 * 1024)}"}`);
    expect(rejected.status).toBe(413);
  });

  it('a caller without certificate', async () => {
    const rejected = await server.ask('GET', '/v1/status', undefined, null);
    expect([rejected.status, messageOf(rejected)]).toEqual([
      400,
      'insecure connection: no client certificate is present',
    ]);
    expect(server.events.at(-1)).toMatchObject({ request: { path: '/v1/status' }, response: { code: 400 } });
    expect(server.events.at(-1)?.request.identity).toBeUndefined();
  });

  it('a caller whose policy does not allow the call', async () => {
    const rejected = await server.ask('POST', '/v1/key/create/x', undefined, server.reader);
    expect([rejected.status, messageOf(rejected)]).toEqual([403, 'not authorized: insufficient permissions']);
  });
});

describe('without a certificate anyone may ask', () => {
  it('for the version', async () => {
    expect((await server.ask('GET', '/version', undefined, null)).status).toBe(200);
  });

  it('for readiness where the configuration opens it, which is that of the key store', async () => {
    expect((await server.ask('GET', '/v1/ready', undefined, null)).status).toBe(200);
    server.store.failure = new KeyError('unreachable', 'no answer');
    const unreachable = await server.ask('GET', '/v1/ready', undefined, null);
    expect([unreachable.status, messageOf(unreachable)]).toEqual([504, 'key store is not reachable']);
    server.store.failure = new KeyError('unavailable', 'broken');
    const unavailable = await server.ask('GET', '/v1/ready', undefined, null);
    expect([unavailable.status, messageOf(unavailable)]).toEqual([502, 'key store is unavailable']);
    expect(JSON.parse((await server.ask('GET', '/v1/status')).text)).toMatchObject({ keystore_unavailable: true });
    server.store.failure = undefined;
  });

  it('for the readiness of the server alone, whose key store is a metric', async () => {
    const up = async () => /^keysvc_keystore_up (\d)$/m.exec((await server.ask('GET', '/v1/metrics')).text)?.[1];
    expect(await up()).toBe('1');
    server.store.failure = new KeyError('unreachable', 'no answer');
    expect((await server.ask('GET', '/v1/ready?store=ignore', undefined, null)).status).toBe(200);
    expect((await server.ask('GET', '/v1/ready?store=other', undefined, null)).status).toBe(504);
    expect(await up()).toBe('0');
    server.store.failure = undefined;
    expect(await up()).toBe('1');
  });
});

describe('a key store that fails', () => {
  it.each([
    ['POST', '/v1/key/create/new', 'bad gateway: failed to create key'],
    ['GET', '/v1/key/describe/unread', 'bad gateway: failed to access key'],
    ['DELETE', '/v1/key/delete/by-POST', 'bad gateway: failed to delete key'],
    ['GET', '/v1/key/list/*', 'bad gateway: failed to list keys'],
  ])('answers %s %s with 502', async (method, path, text) => {
    server.store.failure = new KeyError('unavailable', 'disk /secret/path is broken');
    try {
      const rejected = await server.ask(method, path);
      expect([rejected.status, messageOf(rejected)]).toEqual([502, text]);
    } finally {
      server.store.failure = undefined;
    }
  });
});
