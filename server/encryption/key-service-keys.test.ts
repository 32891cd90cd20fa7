import { describe, expect, it } from 'vitest';
import { dataKeyLimits, keyServiceKeys } from './key-service-keys.ts';
import { KeyServiceError } from '../../platform/key-service/exchange.ts';
import { contextBytes, noKeySource } from './key-source.ts';
import { FakeKeyService } from '../../test/support/encryption/fake-key-service.ts';

const context = { 'coffer:bucket': 'bucket' };

function prepared() {
  const service = new FakeKeyService();
  let now = 1_000_000;
  const keys = keyServiceKeys(service, { defaultKey: 'default-key', clock: () => now });
  return { service, keys, wait: (ms: number) => (now += ms) };
}

describe('data keys of the key service', () => {
  it('are opened again, without asking, from the cache', async () => {
    const { service, keys } = prepared();
    const made = await keys.generate('default-key', context);
    const after = keyServiceKeys(service, { defaultKey: 'default-key' });
    const [first, second] = [await after.unseal(made.sealed, context), await after.unseal(made.sealed, context)];
    expect([first, second]).toEqual([made.plaintext, made.plaintext]);
    expect(service.calls).toEqual(['generate default-key', 'decrypt default-key']);
  });

  it('are opened without asking by who had them made', async () => {
    const { service, keys } = prepared();
    const made = await keys.generate('default-key', context);
    expect(await keys.unseal(made.sealed, context)).toEqual(made.plaintext);
    expect(service.calls).toEqual(['generate default-key']);
  });

  it('are given at once where they are at hand, and waited for together where they are not', async () => {
    const { service, keys } = prepared();
    const made = await keys.generate('default-key', context);
    const after = keyServiceKeys(service, { defaultKey: 'default-key' });
    const waiting = [after.unseal(made.sealed, context), after.unseal(made.sealed, context)];
    expect(waiting).toEqual([expect.any(Promise), expect.any(Promise)]);
    for (const one of waiting) await one;
    expect(after.unseal(made.sealed, context)).toEqual(made.plaintext);
    expect(service.calls).toEqual(['generate default-key', 'decrypt default-key']);
  });

  it('are fresh and remembered by nobody where they are asked for once', async () => {
    const { service, keys } = prepared();
    const cached = await keys.generate('default-key', context);
    const made = await keys.generate('default-key', context, { once: true });
    expect(made.plaintext).not.toEqual(cached.plaintext);
    expect(await keys.generate('default-key', context)).toBe(cached);
    await keys.unseal(made.sealed, context);
    expect(service.calls).toEqual(['generate default-key', 'generate default-key', 'decrypt default-key']);
  });

  it('serve one context each', async () => {
    const { keys } = prepared();
    const one = await keys.generate('default-key', context);
    const other = await keys.generate('default-key', { 'coffer:bucket': 'other' });
    expect(one.plaintext).not.toEqual(other.plaintext);
    await expect(keys.unseal(one.sealed, { 'coffer:bucket': 'other' })).rejects.toMatchObject({
      code: 'not-authentic',
    });
  });

  it('are asked for once by many at the same time', async () => {
    const { service, keys } = prepared();
    await Promise.all(Array.from({ length: 20 }, () => keys.generate('default-key', context)));
    expect(service.calls).toHaveLength(1);
  });

  it('are made anew after their lifetime', async () => {
    const { keys, wait } = prepared();
    const first = await keys.generate('default-key', context);
    wait(dataKeyLimits.lifetimeMs - 1);
    expect((await keys.generate('default-key', context)).plaintext).toEqual(first.plaintext);
    wait(1);
    expect((await keys.generate('default-key', context)).plaintext).not.toEqual(first.plaintext);
  });

  it('are made anew after so many uses', async () => {
    const { service, keys } = prepared();
    for (let use = 0; use < dataKeyLimits.uses; use += 1) await keys.generate('default-key', context);
    expect(service.calls).toHaveLength(1);
    await keys.generate('default-key', context);
    expect(service.calls).toHaveLength(2);
  });

  it('die when their key is refused', async () => {
    const { service, keys } = prepared();
    const cached = await keys.generate('default-key', context);
    await keys.unseal(cached.sealed, context);
    service.failing = 'not-permitted';
    await expect(keys.generate('default-key', { 'coffer:bucket': 'other' })).rejects.toMatchObject({
      code: 'not-permitted',
    });
    await expect(keys.generate('default-key', context)).rejects.toMatchObject({ code: 'not-permitted' });
    await expect(keys.unseal(cached.sealed, context)).rejects.toMatchObject({ code: 'not-permitted' });
  });

  it('live on where the service refuses the name of a key', async () => {
    const { service, keys } = prepared();
    const cached = await keys.generate('default-key', context);
    service.failing = 'invalid-request';
    await expect(keys.generate('default-key', { 'coffer:bucket': 'other' })).rejects.toMatchObject({
      code: 'key-not-found',
    });
    expect(await keys.generate('default-key', context)).toBe(cached);
  });

  it('live on while the key service is away', async () => {
    const { service, keys } = prepared();
    const cached = await keys.generate('default-key', context);
    service.failing = 'unavailable';
    await expect(keys.generate('default-key', { 'coffer:bucket': 'other' })).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await keys.generate('default-key', context)).toBe(cached);
  });

  it('are asked for again after a failure', async () => {
    const { service, keys } = prepared();
    service.failing = 'unavailable';
    await expect(keys.generate('default-key', context)).rejects.toMatchObject({ code: 'unavailable' });
    service.failing = undefined;
    await expect(keys.generate('default-key', context)).resolves.toBeDefined();
  });

  it('are refused for a key that does not exist, by its name', async () => {
    const { keys } = prepared();
    const answer = keys.generate('no-such-key', context);
    await expect(answer).rejects.toMatchObject({
      code: 'key-not-found',
      message: expect.stringContaining('no-such-key'),
    });
  });

  it.each([
    [new KeyServiceError('not-permitted', 'not authorized', { status: 403 }), { code: 'not-permitted', status: 403 }],
    [new KeyServiceError('invalid-request', 'bad name', { status: 400 }), { code: 'key-not-found', status: 400 }],
    [
      new KeyServiceError('unavailable', 'no answer', { noAnswer: { wasSent: true, isTransient: false } }),
      { code: 'unavailable', status: undefined, noAnswer: { wasSent: true, isTransient: false } },
    ],
  ])('fail with what the client says: %s', async (failure, expected) => {
    const { service, keys } = prepared();
    service.generateKey = () => Promise.reject(failure);
    await expect(keys.generate('default-key', context)).rejects.toMatchObject({ ...expected, cause: failure });
  });

  it('must have 32 bytes', async () => {
    const { service, keys } = prepared();
    service.generateKey = () => Promise.resolve({ plaintext: Buffer.alloc(16), ciphertext: Buffer.alloc(1) });
    await expect(keys.generate('default-key', context)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('the check of the key service', () => {
  it.each(['key-not-found', 'not-permitted'] as const)('has the error of the client as its cause: %s', async (code) => {
    const { service, keys } = prepared();
    const failure = new KeyServiceError(code, 'as the service says it', { status: 403 });
    service.generateKey = () => Promise.reject(failure);
    Object.assign(service, { describeSelf: () => Promise.resolve({ identity: 'abc' }) });
    await expect(keys.check()).rejects.toMatchObject({ code, status: 403, cause: failure });
  });

  it.each([
    ['a key service without keys', []],
    ['a typing error in its name', ['default-kye']],
  ])('never makes the default key, and names it: %s', async (_, names) => {
    const { service, keys } = prepared();
    service.keys.clear();
    for (const name of names) service.keys.set(name, Buffer.alloc(32));
    await expect(keys.check()).rejects.toMatchObject({
      code: 'key-not-found',
      message: expect.stringMatching(
        /the default key "default-key" does not exist.*SVC_KMS_KEYSVC_KEY_NAME.*keysvc key create default-key/,
      ) as string,
    });
    expect([...service.keys.keys()]).toEqual(names);
  });

  it('is content with a key that is there', async () => {
    const { keys } = prepared();
    await keys.check();
  });

  it('fails while the key service is away', async () => {
    const { service, keys } = prepared();
    service.failing = 'unavailable';
    await expect(keys.check()).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('no key source', () => {
  it('refuses everything as not configured', async () => {
    const code = { code: 'not-configured' };
    await expect(noKeySource.generate('x', {})).rejects.toMatchObject(code);
    await expect(noKeySource.unseal({ keyName: 'x', ciphertext: '' }, {})).rejects.toMatchObject(code);
    await expect(noKeySource.check()).rejects.toMatchObject(code);
  });
});

const escaped = (json: string) => json.replace('<', '\\u003c').replace('>', '\\u003e').replace('&', '\\u0026');

describe('contextBytes', () => {
  it('sorts names and escapes what HTML would read', () => {
    expect(String(contextBytes({ b: '<&>', a: '"ä' }))).toBe(String.raw`{"a":"\"ä","b":"\u003c\u0026\u003e"}`);
  });

  it.each(['bucket', 'a.b-c_d:e', '', '"', '\\', '<', '>', '&', 'ä', 'a b', 'a\n', '\u2028', 'bucket\n'])(
    'of one name is JSON: %j',
    (text) => {
      expect(String(contextBytes({ 'coffer:bucket': text }))).toBe(escaped(JSON.stringify({ 'coffer:bucket': text })));
      expect(String(contextBytes({ [text]: 'value' }))).toBe(escaped(JSON.stringify({ [text]: 'value' })));
    },
  );

  it('of nothing is an empty object', () => {
    expect(String(contextBytes({}))).toBe('{}');
  });
});

describe('a check that the key service refuses', () => {
  it.each([
    ['app', /its policy "app" for this server \(identity abc\) does not allow \/v1\/key\/decrypt\/k/],
    [undefined, /no policy of the key service is for this server \(identity abc\); one must allow /],
  ])('names every permission that the policy %s lacks', async (policy_name, message) => {
    const service = new FakeKeyService();
    service.failing = 'not-permitted';
    const self = {
      identity: 'abc',
      ...(policy_name === undefined ? {} : { policy_name, policy: { allow: ['/v1/key/generate/*'] } }),
    };
    const describeSelf = () => Promise.resolve(self);
    const keys = keyServiceKeys(Object.assign(service, { describeSelf }), { defaultKey: 'k' });
    await expect(keys.check()).rejects.toMatchObject({
      code: 'not-permitted',
      message: expect.stringMatching(message),
    });
  });

  it('stays what it was where the service does not say who the server is', async () => {
    const service = new FakeKeyService();
    service.failing = 'not-permitted';
    const silent = Object.assign(service, { describeSelf: () => Promise.reject(new Error('no such call')) });
    const keys = keyServiceKeys(silent, { defaultKey: 'k' });
    await expect(keys.check()).rejects.toMatchObject({ code: 'not-permitted' });
  });
});
