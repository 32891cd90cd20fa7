import { describe, expect, it } from 'vitest';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { addVersion } from '../keys/key-versions.ts';
import { seal } from '../keys/seal.ts';
import { messageOf, testKeyServer } from '../../test/support/keysvc/test-key-service.ts';

const server = testKeyServer();

const names = (answered: { readonly text: string }) =>
  answered.text
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { name: string }).name);

describe('the key server', () => {
  it.each(['POST', 'PUT'])('takes %s for calls that change or encrypt', async (method) => {
    const name = `by-${method}`;
    expect(await server.ask(method, `/v1/key/create/${name}`)).toMatchObject({ status: 200, text: '' });
    const sealed = await server.ask(method, `/v1/key/encrypt/${name}`, '{"plaintext":"c2VjcmV0"}');
    const { ciphertext } = JSON.parse(sealed.text) as { ciphertext: string };
    const opened = await server.ask(method, `/v1/key/decrypt/${name}`, JSON.stringify({ ciphertext }));
    expect(JSON.parse(opened.text)).toEqual({ plaintext: 'c2VjcmV0' });
  });

  it('describes a key by the identity that made it', async () => {
    await server.ask('POST', '/v1/key/create/described');
    expect(JSON.parse((await server.ask('GET', '/v1/key/describe/described')).text)).toMatchObject({
      name: 'described',
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      algorithm: 'AES256-GCM_SHA256',
      created_by: identityOfCertificate(server.root.certPem),
    });
  });

  it.each([
    ['first', { bytes: Buffer.alloc(32, 1).toString('base64'), algorithm: 'XCHACHA20-POLY1305' }, 'XCHACHA20-POLY1305'],
    ['second', { key: Buffer.alloc(32, 2).toString('base64'), cipher: 'AES256' }, 'AES256-GCM_SHA256'],
  ])('imports a key as the %s generation sends it, once', async (generation, body, algorithm) => {
    const path = `/v1/key/import/imported-${generation}`;
    expect(await server.ask('POST', path, JSON.stringify(body))).toMatchObject({ status: 200, text: '' });
    const described = await server.ask('GET', `/v1/key/describe/imported-${generation}`);
    expect(JSON.parse(described.text)).toMatchObject({
      algorithm,
      created_by: identityOfCertificate(server.root.certPem),
    });
    const again = await server.ask('PUT', path, JSON.stringify(body));
    expect([again.status, messageOf(again)]).toEqual([400, 'key already exists']);
  });

  it('opens with an imported key what was sealed with it elsewhere', async () => {
    await server.ask(
      'PUT',
      '/v1/key/import/zero',
      JSON.stringify({ key: Buffer.alloc(32).toString('base64'), cipher: 'AES256' }),
    );
    const ciphertext =
      'lbFBRVMyNTYtR0NNX1NIQTI1NtkgNjY2ODdhYWRmODYyYmQ3NzZjOGZjMThiOGU5ZjhlMjDEEExv7LAd4oz0SaHZrX5LBufEDEKME1ow1CDfUFrqv8QgJuy7Sw+jVqz99TK1HV851LT3K4mwwDv46TB2ngWkAJQ=';
    const opened = await server.ask('POST', '/v1/key/decrypt/zero', JSON.stringify({ ciphertext }));
    expect(JSON.parse(opened.text)).toEqual({ plaintext: Buffer.alloc(16).toString('base64') });
  });

  it('rotates a key: what an older version sealed stays readable', async () => {
    await server.ask('POST', '/v1/key/create/rotated');
    const sealed = async () =>
      JSON.parse((await server.ask('POST', '/v1/key/encrypt/rotated', '{"plaintext":"c2VjcmV0"}')).text) as {
        ciphertext: string;
        version: string;
      };
    const before = await sealed();
    const { version } = JSON.parse((await server.ask('POST', '/v1/key/rotate/rotated')).text) as { version: string };
    const after = await sealed();
    expect([after.version, before.version === version]).toEqual([version, false]);
    for (const { ciphertext } of [before, after]) {
      const opened = await server.ask('POST', '/v1/key/decrypt/rotated', JSON.stringify({ ciphertext }));
      expect(JSON.parse(opened.text)).toEqual({ plaintext: 'c2VjcmV0' });
    }
    const described = JSON.parse((await server.ask('GET', '/v1/key/describe/rotated')).text) as object;
    expect(described).toMatchObject({ id: version, versions: [before.version, version] });
    expect(messageOf(await server.ask('POST', '/v1/key/rotate/none'))).toBe('key does not exist');
    expect((await server.ask('POST', `/v1/key/rotate/${'x'.repeat(76)}`)).status).toBe(400);
  });

  it('opens what a version sealed that another key server added meanwhile', async () => {
    await server.ask('POST', '/v1/key/create/elsewhere');
    await server.ask('GET', '/v1/key/describe/elsewhere');
    const { newest } = await addVersion(server.store, 'elsewhere', new Date(), undefined);
    const ciphertext = seal(newest, Buffer.from('secret'), Buffer.alloc(0)).toString('base64');
    const opened = await server.ask('POST', '/v1/key/decrypt/elsewhere', JSON.stringify({ ciphertext }));
    expect(JSON.parse(opened.text)).toEqual({ plaintext: 'c2VjcmV0' });
  });

  it.each([
    [{ bytes: 'AAAA', algorithm: 'AES256-GCM_SHA256' }, 400, 'invalid key size'],
    [{ key: 'AAAA', cipher: 'AES256' }, 406, "invalid key size for 'AES256'"],
    [{ key: 'AAAA', cipher: 'DES' }, 406, "algorithm 'DES' is not supported"],
    [{ key: 'AAAA', cipher: 'constructor' }, 406, "algorithm 'constructor' is not supported"],
  ])('refuses to import %j', async (body, status, text) => {
    const rejected = await server.ask('POST', '/v1/key/import/refused', JSON.stringify(body));
    expect([rejected.status, messageOf(rejected)]).toEqual([status, text]);
  });

  it('computes the same HMAC for the same message, by a key that the 2023 releases did not have', async () => {
    await server.ask('POST', '/v1/key/create/hmac');
    const hmac = async (text: string) =>
      JSON.parse(
        (
          await server.ask(
            'PUT',
            '/v1/key/hmac/hmac',
            JSON.stringify({ message: Buffer.from(text).toString('base64') }),
          )
        ).text,
      ) as { hmac: string };
    expect(await hmac('a')).toEqual(await hmac('a'));
    expect(await hmac('a')).not.toEqual(await hmac('b'));
    expect(Buffer.from((await hmac('a')).hmac, 'base64')).toHaveLength(32);
    await server.store.create('old', Buffer.from(JSON.stringify({ bytes: Buffer.alloc(32).toString('base64') })));
    const rejected = await server.ask('PUT', '/v1/key/hmac/old', '{"message":""}');
    expect([rejected.status, messageOf(rejected)]).toEqual([409, 'key does not support HMAC']);
  });

  it('deletes a key, once', async () => {
    await server.ask('POST', '/v1/key/create/deleted');
    expect((await server.ask('DELETE', '/v1/key/delete/deleted')).status).toBe(200);
    const again = await server.ask('DELETE', '/v1/key/delete/deleted');
    expect([again.status, messageOf(again)]).toEqual([404, 'key does not exist']);
  });

  it('decrypts many at once in their order, and none where one fails', async () => {
    await server.ask('POST', '/v1/key/create/bulk');
    const sealed = async (text: string) => {
      const plaintext = Buffer.from(text).toString('base64');
      return JSON.parse(
        (await server.ask('POST', '/v1/key/encrypt/bulk', JSON.stringify({ plaintext }))).text,
      ) as object;
    };
    const both = [await sealed('one'), await sealed('two')];
    const opened = await server.ask('POST', '/v1/key/bulk/decrypt/bulk', JSON.stringify(both));
    expect(JSON.parse(opened.text)).toEqual([{ plaintext: 'b25l' }, { plaintext: 'dHdv' }]);
    const broken = await server.ask(
      'POST',
      '/v1/key/bulk/decrypt/bulk',
      JSON.stringify([...both, { ciphertext: 'AAAA' }]),
    );
    expect([broken.status, messageOf(broken)]).toEqual([400, 'decryption failed: ciphertext is not authentic']);
    const tooMany = JSON.stringify(Array.from({ length: 1001 }, () => ({ ciphertext: 'AAAA' })));
    expect(messageOf(await server.ask('POST', '/v1/key/bulk/decrypt/bulk', tooMany))).toBe('too many ciphertexts');
  });

  it('lists what the pattern matches and hides what the policy denies', async () => {
    for (const name of ['list-a', 'list-b', 'hidden-c']) await server.ask('POST', `/v1/key/create/${name}`);
    expect(names(await server.ask('GET', '/v1/key/list/list-*'))).toEqual(['list-a', 'list-b']);
    // Later clients send a prefix of the names.
    expect(names(await server.ask('GET', '/v1/key/list/list-'))).toEqual(['list-a', 'list-b']);
    expect(names(await server.ask('GET', '/v1/key/list/%2A'))).toContain('hidden-c');
    const seen = names(await server.ask('GET', '/v1/key/list', undefined, server.reader));
    expect(seen).toContain('list-a');
    expect(seen).not.toContain('hidden-c');
    expect((await server.ask('GET', '/v1/key/list/none-*')).text).toBe('');
  });
});
