import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { VaultKeyStoreSettings } from '../keystore-settings.ts';
import { VirtualClock } from '../../../test/support/keysvc/http-double.ts';
import { vaultLogin, VaultDouble } from '../../../test/support/keysvc/vault-double.ts';
import { openVaultKeyStore, VaultKeyStore } from './vault-keystore.ts';
import { vaultConformance, vaultSettings } from '../../../test/support/keysvc/vault.conformance.ts';

vaultConformance('the double of Vault', [vaultLogin.roleId, vaultLogin.secretId, 'hvs.token'], (version) =>
  VaultDouble.start(new VirtualClock(), version),
);

const isLook = ({ url }: { url: URL }) => url.pathname.startsWith('/v1/sys/internal/');

describe('Vault', () => {
  let double: VaultDouble;
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vault-'));
  });
  afterEach(async () => {
    await double.http.close();
    await rm(folder, { recursive: true });
  });

  const start = async (version: 'v1' | 'v2', more: Partial<VaultKeyStoreSettings> = {}) => {
    double = await VaultDouble.start(new VirtualClock(), version);
    return new VaultKeyStore(vaultSettings(double, version, more), { clock: double.clock, attemptMs: 60_000 });
  };

  it('lets nobody use a key of version 1 before everybody who found nothing has written', async () => {
    const store = await start('v1');
    double.put('my-key', { 'my-key': 'early', looked: double.clock.now() });
    let reads = 0;
    double.http.faultOf = ({ method }) => {
      if (method === 'GET' && reads++ === 0)
        setImmediate(() => double.put('my-key', { 'my-key': 'late', looked: double.clock.now() }));
      return undefined;
    };
    expect((await store.get('my-key')).toString()).toBe('late');
  });

  it('is asked in its namespace', async () => {
    const store = await start('v2', { namespace: 'team' });
    const record = Buffer.from('record');
    double.namespace = 'team';
    await store.create('my-key', record);
    expect(await store.get('my-key')).toEqual(record);
  });

  it('is logged in to once, the token lengthened until its maximum and then replaced', async () => {
    const store = await start('v2');
    for (let calls = 0; calls < 24; calls++) {
      await expect(store.get('none')).rejects.toMatchObject({ code: 'not-found' });
      double.clock.advance(500_000);
    }
    expect(double.renewals).toBeGreaterThan(3);
    expect(double.logins).toBeGreaterThanOrEqual(2);
    expect(double.logins).toBeLessThan(5);
  });

  it('is logged in to once with a secret ID that it refuses by 500, as version 1.13 does', async () => {
    const store = await start('v2');
    double.http.faultOf = ({ url }) =>
      url.pathname.endsWith('/login') ? { status: 500, body: { errors: ['invalid secret id'] } } : undefined;
    await expect(store.get('my-key')).rejects.toMatchObject({ code: 'refused' });
    expect(double.http.requests.filter(({ url }) => url.pathname.endsWith('/login'))).toHaveLength(1);
    await store.close();
  });

  it('is logged in to by the token in a file, which is read anew at each login', async () => {
    const jwt = join(folder, 'token');
    await writeFile(jwt, 'an.old.one');
    const store = await start('v2', {
      login: { kind: 'kubernetes', engine: 'kubernetes', role: vaultLogin.role, jwt },
    });
    await expect(store.get('none')).rejects.toThrow(/Kubernetes role "coffer".*is the role bound/);
    await writeFile(jwt, Buffer.from('an.öld.one', 'latin1'));
    await expect(store.get('none')).rejects.toThrow(`token ${jwt} for the vault: it is not UTF-8`);
    await writeFile(jwt, `\uFEFF${vaultLogin.jwt}\r\n`);
    await expect(store.get('none')).rejects.toMatchObject({ code: 'not-found' });
  });

  it.each(['v1', 'v2'] as const)(
    'holds records that its transit engine sealed, and opens them: %s',
    async (version) => {
      const store = await start(version, { transit: { engine: 'transit', key: 'master' } });
      const record = Buffer.from('record of a key');
      await store.create('my-key', record);
      expect(double.http.requests.map(({ body }) => body).join('')).toContain('"my-key":"vault:v1:');
      expect(await store.get('my-key')).toEqual(record);
      // A record from before the setting is plain.
      double.put('old', { old: 'plain record' });
      expect((await store.get('old')).toString()).toBe('plain record');
      const without = new VaultKeyStore(vaultSettings(double, version), { clock: double.clock, attemptMs: 60_000 });
      await expect(without.get('my-key')).rejects.toMatchObject({
        code: 'refused',
        message: expect.stringContaining('keystore.vault.transit') as string,
      });
      const wrong = vaultSettings(double, version, { transit: { engine: 'transit', key: 'other' } });
      const other = new VaultKeyStore(wrong, { clock: double.clock, attemptMs: 60_000 });
      await expect(other.get('my-key')).rejects.toMatchObject({ code: 'unavailable' });
    },
  );

  describe.each(['v1', 'v2'] as const)('whose engine %s was replaced', (version) => {
    const record = Buffer.from('record');
    const calls = (store: VaultKeyStore) => [
      () => store.get('my-key'),
      () => store.get('none'),
      () => store.create('other', record),
      () => store.delete('my-key'),
      () => Array.fromAsync(store.list()),
    ];
    const inUse = async () => {
      const store = await start(version);
      await store.create('my-key', record);
      await store.get('my-key');
      return store;
    };

    it('is an outage, and gets no key, while the one in its place lacks the key that was read', async () => {
      const store = await inUse();
      double.replaceEngine();
      for (const call of calls(store))
        await expect(call()).rejects.toMatchObject({
          code: 'unavailable',
          message: expect.stringContaining('another one than before') as string,
        });
      expect(double.paths()).toEqual([]);
    });

    it('is believed again once it has the key that was read', async () => {
      const store = await inUse();
      const looked = { 'my-key': record.toString() };
      double.replaceEngine({ 'my-key': looked });
      await expect(store.get('none')).rejects.toMatchObject({ code: 'not-found' });
      expect(await store.get('my-key')).toEqual(record);
      await store.delete('my-key');
      await expect(store.get('my-key')).rejects.toMatchObject({ code: 'not-found' });
    });

    it('gives back no key that was written to another one, and is not known by it', async () => {
      const store = await inUse();
      double.http.faultOf = ({ method }) => {
        // The engine is replaced between the look at it and the write.
        if (method === 'POST' && double.paths().includes('my-key')) double.switchEngine();
        return undefined;
      };
      await expect(store.create('other', record)).rejects.toMatchObject({ code: 'unavailable' });
      expect(double.paths()).toEqual(['other']);
      for (const call of calls(store)) await expect(call()).rejects.toMatchObject({ code: 'unavailable' });
      double.switchEngine();
      await expect(store.get('other')).rejects.toMatchObject({ code: 'not-found' });
      expect(await store.get('my-key')).toEqual(record);
    });

    it('for the time of one read alone says nothing about a key', async () => {
      const store = await inUse();
      let reads = 0;
      double.http.faultOf = (request) => {
        const isAway = !double.paths().includes('my-key');
        if (isLook(request) ? isAway : !isAway && reads++ === 0) double.switchEngine();
        return undefined;
      };
      expect(await store.get('my-key')).toEqual(record);
    });

    it('is an outage for a key that it lacks, also where it has others', async () => {
      const store = await inUse();
      await store.create('second', record);
      double.replaceEngine({ second: { second: record.toString() } });
      expect(await store.get('second')).toEqual(record);
      for (const name of ['my-key', 'none'])
        await expect(store.get(name)).rejects.toMatchObject({ code: 'unavailable' });
    });

    it('loses no key to a deletion that was for the former', async () => {
      const store = await inUse();
      await store.create('second', record);
      double.replaceEngine({ second: { second: record.toString() } });
      await expect(store.delete('second')).rejects.toMatchObject({ code: 'unavailable' });
      expect(double.paths()).toEqual(['second']);
    });

    it('is an outage where the vault could not tell its engine when the key was read', async () => {
      const store = await start(version);
      double.put('my-key', { 'my-key': record.toString() });
      double.http.faultOf = (request) => (isLook(request) ? { status: 500, body: { errors: ['down'] } } : undefined);
      expect(await store.get('my-key')).toEqual(record);
      await expect(store.get('none')).rejects.toMatchObject({ code: 'unavailable' });
      double.http.faultOf = () => undefined;
      double.replaceEngine();
      await expect(store.get('my-key')).rejects.toMatchObject({ code: 'unavailable' });
    });

    /** A store that read `second`, beside the secret of `my-key`. The look at the engine waits that `isHeld` is true for. */
    const withHeldLook = async (isHeld: (look: number) => boolean, names = ['second', 'my-key']) => {
      const store = await start(version);
      for (const name of names) double.put(name, { [name]: record.toString() });
      await store.get('second');
      const held = Promise.withResolvers<undefined>();
      let looks = 0;
      double.http.faultOf = (request) => (isLook(request) && isHeld(looks++) ? held.promise : undefined);
      return {
        store,
        looked: (count: number) => vi.waitFor(() => expect(looks).toBe(count), { timeout: 60_000 }),
        release: () => held.resolve(undefined),
      };
    };

    it('needs no key that was deleted while it was read', async () => {
      const { store, looked, release } = await withHeldLook((look) => look === 0);
      const reading = store.get('my-key');
      await looked(1);
      await store.delete('my-key');
      release();
      expect(await reading).toEqual(record);
      double.replaceEngine({ second: { second: record.toString() } });
      await expect(store.get('none')).rejects.toMatchObject({ code: 'not-found' });
    });

    it('needs a key that was read while another one was missing', async () => {
      const { store, looked, release } = await withHeldLook((look) => look === 0);
      const reading = store.get('my-key');
      await looked(1);
      await expect(store.get('none')).rejects.toMatchObject({ code: 'not-found' });
      await expect(store.delete('none')).rejects.toMatchObject({ code: 'not-found' });
      release();
      expect(await reading).toEqual(record);
      double.replaceEngine({ second: { second: record.toString() } });
      for (const call of [() => store.get('my-key'), () => store.create('my-key', record)])
        await expect(call()).rejects.toMatchObject({ code: 'unavailable' });
    });

    it.each([
      ['read', (store: VaultKeyStore) => store.get('my-key')],
      ['deleted', (store: VaultKeyStore) => store.delete('my-key')],
    ])('needs a key that was created while it was %s in vain', async (_, call) => {
      // The look after the call in vain is the second one.
      const { store, looked, release } = await withHeldLook((look) => look === 1, ['second']);
      const calling = expect(call(store)).rejects.toMatchObject({ code: 'not-found' });
      await looked(2);
      await store.create('my-key', record);
      release();
      await calling;
      double.replaceEngine({ second: { second: record.toString() } });
      await expect(store.get('my-key')).rejects.toMatchObject({ code: 'unavailable' });
    });

    it('needs a key that another key service deleted, until this one starts again, and says so', async () => {
      const store = await inUse();
      await store.create('second', record);
      // It was deleted before the engine was replaced, which nothing here can tell from a loss.
      double.replaceEngine({ second: { second: record.toString() } });
      await expect(store.get('none')).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(
          /no key "my-key".*or the key was deleted.*start the key service again/,
        ) as string,
      });
      const restarted = new VaultKeyStore(vaultSettings(double, version), { clock: double.clock, attemptMs: 60_000 });
      await expect(restarted.get('none')).rejects.toMatchObject({ code: 'not-found' });
      expect(await restarted.get('second')).toEqual(record);
    });

    it('is believed in its own words where it does not show its engines', async () => {
      const store = await start(version);
      double.showsEngines = false;
      await store.create('my-key', record);
      await store.get('my-key');
      double.replaceEngine();
      await expect(store.get('my-key')).rejects.toMatchObject({ code: 'not-found' });
    });
  });

  it('is followed once from a standby to the active one', async () => {
    const store = await start('v2');
    const standby = await VaultDouble.start(double.clock, 'v2');
    try {
      standby.http.faultOf = ({ url }) => ({
        status: 307,
        headers: { location: `${double.http.url}${url.pathname}${url.search}` },
      });
      const redirected = new VaultKeyStore(
        { ...vaultSettings(double, 'v2'), endpoint: standby.http.url },
        { clock: double.clock, attemptMs: 60_000 },
      );
      await redirected.create('my-key', Buffer.from('record'));
      expect((await store.get('my-key')).toString()).toBe('record');
      // A standby that leads to a standby is an outage.
      double.http.faultOf = standby.http.faultOf;
      await expect(redirected.get('my-key')).rejects.toMatchObject({ code: 'unavailable' });
    } finally {
      await standby.http.close();
    }
  });

  it('is not opened without the certificates that the settings name', async () => {
    const store = await start('v2');
    await store.close();
    const settings = vaultSettings(double, 'v2', { tls: { caFile: join(folder, 'none.crt') } });
    await expect(openVaultKeyStore(settings)).rejects.toThrow('keystore.vault.tls');
  });
});
