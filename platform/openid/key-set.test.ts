import { flattenedVerify, type FlattenedJWSInput } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProviderKeys } from '../../test/support/openid/realm.ts';
import { createKeySet } from './key-set.ts';
import type { LimitedFetch } from '../http/limited-fetch.ts';

const noToken: FlattenedJWSInput = { payload: '', signature: '' };
const header = (kid: string) => ({ alg: 'ES256', kid });

let keys: ProviderKeys;
let requests: number;
let broken: boolean;
let time: number;

beforeEach(async () => {
  keys = await ProviderKeys.create('ES256');
  requests = 0;
  broken = false;
  time = 0;
});

afterEach(() => {
  vi.useRealTimers();
});

const fetch: LimitedFetch = () => {
  requests += 1;
  return broken ? Promise.reject(new Error('no route')) : Promise.resolve(new Response(JSON.stringify(keys.published)));
};

const clock = () => time;

function keySet() {
  return createKeySet('https://idp.example/keys', {
    fetch,
    clock,
    cooldownMs: 5_000,
    maxAgeMs: 60_000,
    graceMs: 60_000,
  });
}

const signed = async (): Promise<FlattenedJWSInput> => {
  const [head = '', payload = '', signature = ''] = (await keys.sign({}, { kid: undefined })).split('.');
  return { protected: head, payload, signature };
};
const verifies = async (set: ReturnType<typeof keySet>, token: FlattenedJWSInput) =>
  flattenedVerify(token, await set.find({ alg: 'ES256' }, token)).then(
    () => true,
    () => false,
  );

describe('createKeySet', () => {
  it('reads the keys once for many tokens', async () => {
    const set = keySet();
    await Promise.all([1, 2, 3].map(() => set.find(header('key-1'), noToken)));
    await set.find(header('key-1'), noToken);
    expect(requests).toBe(1);
  });

  it('reads the keys again when the last read began long ago, however long it took', async () => {
    const slow: LimitedFetch = (...request) => {
      time += 30_000;
      return fetch(...request);
    };
    const set = createKeySet('https://idp.example/keys', { fetch: slow, clock, maxAgeMs: 60_000, graceMs: 60_000 });
    await set.load();
    time += 35_000;
    await set.hasSigningKey();
    expect(requests).toBe(2);
  });

  it('finds the new key after a rotation', async () => {
    const set = keySet();
    await set.load();
    await keys.rotate('ES256');
    time += 5_000;
    await set.find(header('key-2'), noToken);
    expect(requests).toBe(2);
  });

  it.each([
    ['no key', [], false],
    ['a key for signatures', [{ kty: 'RSA', use: 'sig' }], true],
    ['a key for any use', [{ kty: 'OKP' }], true],
    ['a key for encryption alone', [{ kty: 'EC', use: 'enc' }], false],
    ['a symmetric key', [{ kty: 'oct' }], false],
  ])('tells whether the provider signs by keys of its own: %s', async (_what, published, expected) => {
    const answer = () => Promise.resolve(new Response(JSON.stringify({ keys: published })));
    const set = createKeySet('https://idp.example/keys', { fetch: answer });
    await expect(set.hasSigningKey()).resolves.toBe(expected);
  });

  it('finds the new key also after the clock of the machine was set back', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const set = createKeySet('https://idp.example/keys', { fetch, cooldownMs: 0 });
    await set.load();
    await keys.rotate('ES256');
    vi.setSystemTime(Date.now() - 1_200_000);
    await set.find(header('key-2'), noToken);
    expect(requests).toBe(2);
  });

  it('asks no more than once in the cooldown for keys that do not exist', async () => {
    const set = keySet();
    await set.load();
    for (let token = 0; token < 10; token += 1) {
      await expect(set.find(header(`made-up-${token}`), noToken)).rejects.toMatchObject({ code: 'KeyUnknown' });
    }
    expect(requests).toBe(1);
  });

  it('forgets a withdrawn key when the keys are old', async () => {
    const set = keySet();
    await set.load();
    await keys.rotate('ES256', { forget: true });
    time += 60_000;
    await expect(set.find(header('key-1'), noToken)).rejects.toMatchObject({ code: 'KeyUnknown' });
  });

  it('goes on with old keys while the provider is away, but not for ever', async () => {
    const set = keySet();
    await set.load();
    broken = true;
    time += 61_000;
    await set.find(header('key-1'), noToken);
    time += 60_000;
    await expect(set.find(header('key-1'), noToken)).rejects.toMatchObject({ code: 'KeysUnreachable' });
  });

  it('lets no token wait for a provider that is known to be away, while its old keys count', async () => {
    const late = Promise.withResolvers<Response>();
    let isHanging = false;
    let asked = 0;
    const hanging: LimitedFetch = (url) => {
      if (!isHanging) return fetch(url);
      asked += 1;
      return late.promise;
    };
    const set = createKeySet('https://idp.example/keys', { fetch: hanging, clock, maxAgeMs: 60_000, graceMs: 60_000 });
    await set.load();
    broken = true;
    time += 60_000;
    await set.find(header('key-1'), noToken);
    isHanging = true;
    time += 5_000;
    await set.find(header('key-1'), noToken);
    expect(asked).toBe(1);
    await keys.rotate('ES256', { forget: true });
    late.resolve(Response.json(keys.published));
    await set.load();
    await expect(set.find(header('key-1'), noToken)).rejects.toMatchObject({ code: 'KeyUnknown' });
  });

  it('works again once the provider is back', async () => {
    broken = true;
    const set = keySet();
    await expect(set.load()).rejects.toMatchObject({ code: 'KeysUnreachable' });
    broken = false;
    await set.find(header('key-1'), noToken);
  });

  it.each(['', '{}', '{"keys":1}', '{"keys":[1]}', '[]'])('refuses a key document of %j', async (body) => {
    const set = createKeySet('https://idp.example/keys', { fetch: () => Promise.resolve(new Response(body)) });
    await expect(set.load()).rejects.toMatchObject({ code: 'KeysUnreachable' });
  });

  it('takes a token without kid where keys have none either, and only one fits', async () => {
    const unnamed = (): Promise<Response> =>
      Promise.resolve(Response.json({ keys: keys.published.keys.map(({ kid: _kid, ...key }) => key) }));
    const set = createKeySet('https://idp.example/keys', { fetch: unnamed });
    await set.find({ alg: 'ES256' }, noToken);
    await keys.rotate('ES256');
    await set.load();
    await expect(set.find({ alg: 'ES256' }, noToken)).rejects.toMatchObject({ code: 'KeyUnknown' });
  });

  it('takes a token without kid where one key fits, though it has a name', async () => {
    await expect(keySet().find({ alg: 'ES256' }, noToken)).resolves.toBeDefined();
  });

  describe('for a token without kid', () => {
    it('finds the key that came in the place of another one', async () => {
      const set = keySet();
      expect(await verifies(set, await signed())).toBe(true);
      await keys.rotate('ES256', { forget: true });
      time += 5_000;
      expect(await verifies(set, await signed())).toBe(true);
      expect(requests).toBe(2);
    });

    it('asks no more than once in the cooldown where none signed it', async () => {
      const set = keySet();
      await set.load();
      time += 5_000;
      for (let token = 0; token < 10; token += 1) expect(await verifies(set, noToken)).toBe(false);
      expect(requests).toBe(2);
    });

    it('asks for no keys where the one that is known signed it', async () => {
      const set = keySet();
      await set.load();
      time += 5_000;
      expect(await verifies(set, await signed())).toBe(true);
      expect(requests).toBe(1);
    });

    it('finds the key also where several fitted that are withdrawn', async () => {
      const set = keySet();
      await keys.rotate('ES256');
      await set.load();
      await keys.rotate('ES256', { forget: true });
      time += 5_000;
      expect(await verifies(set, await signed())).toBe(true);
    });
  });
});
