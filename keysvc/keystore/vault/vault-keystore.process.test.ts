import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { VaultKeyStoreSettings, VaultLogin } from '../../config/keystore-settings.ts';
import { remoteKeyStoreConformance } from '../remote/remote.conformance.ts';
import { VirtualClock } from '../remote/virtual-clock.ts';
import { vaultLogin, VaultDouble } from './vault-double.ts';
import { openVaultKeyStore, VaultKeyStore } from './vault-keystore.ts';

const approle: VaultLogin = {
  kind: 'approle',
  engine: 'approle',
  roleId: vaultLogin.roleId,
  secretId: vaultLogin.secretId,
};

function settingsFor(double: VaultDouble, version: 'v1' | 'v2', more: Partial<VaultKeyStoreSettings> = {}) {
  const endpoint = double.http.url;
  return { kind: 'vault', endpoint, engine: 'kv', version, prefix: '', login: approle, tls: {}, ...more } as const;
}

const isForKeys = ({ url }: { url: URL }) => url.pathname.startsWith('/v1/kv/');

describe.each(['v1', 'v2'] as const)('Vault with its engine %s', (version) => {
  const data = version === 'v1' ? 'kv' : 'kv/data';
  const metadata = version === 'v1' ? 'kv' : 'kv/metadata';
  remoteKeyStoreConformance({
    name: `Vault ${version}`,
    async start() {
      const clock = new VirtualClock();
      const double = await VaultDouble.start(clock, version);
      return {
        clock,
        http: double.http,
        open: (options) => new VaultKeyStore(settingsFor(double, version), { clock, ...options }),
        revokeTokens: () => double.revokeTokens(),
        ...(version === 'v1'
          ? {}
          : { trash: { delete: (name) => double.softDelete(name), recover: (name) => double.undelete(name) } }),
        deny: (capability) => double.denied.add(capability as 'read'),
        close: () => double.http.close(),
      };
    },
    isForKeys,
    isWrite: (request) => isForKeys(request) && request.method === 'POST',
    secrets: [vaultLogin.roleId, vaultLogin.secretId, 'hvs.token'],
    permissions: [
      ['create', 'create', `lack the capability "create" on "${data}/new"`],
      ['get', 'read', `lack the capability "read" on "${data}/kept"`],
      ['delete', 'delete', `lack the capability "delete" on "${metadata}/kept"`],
      ['list', 'list', `lack the capability "list" on "${metadata}/"`],
    ],
  });
});

describe('Vault', () => {
  const record = Buffer.from('record');
  let double: VaultDouble;
  afterEach(() => double.http.close());

  const start = async (version: 'v1' | 'v2', more: Partial<VaultKeyStoreSettings> = {}) => {
    double = await VaultDouble.start(new VirtualClock(), version);
    return new VaultKeyStore(settingsFor(double, version, more), { clock: double.clock, attemptMs: 60_000 });
  };

  describe('with version 2 of its engine', () => {
    it('has a key under its prefix, in a field of its name, as other programs of the protocol write it', async () => {
      const store = await start('v2', { prefix: 'team/minio' });
      await store.create('my-key', record);
      expect(double.pathsOf()).toEqual(['team/minio/my-key']);
      double.put('team/minio/theirs', { theirs: 'their record' });
      expect((await store.get('theirs')).toString()).toBe('their record');
      expect((await Array.fromAsync(store.list())).sort()).toEqual(['my-key', 'theirs']);
    });

    it('tells that a key was written over, and takes one that was rolled back', async () => {
      const store = await start('v2');
      await store.create('my-key', record);
      double.put('my-key', { 'my-key': 'other' });
      await expect(store.get('my-key')).rejects.toThrow(/written over.*version 2.*vault kv rollback/);
      double.put('my-key', { 'my-key': record.toString() });
      expect(await store.get('my-key')).toEqual(record);
    });

    it.each([
      ['can be recovered', false, 'vault kv undelete'],
      ['is destroyed', true, 'bytes are destroyed'],
    ])('does not give the name of a deleted key away that %s', async (_, destroyed, message) => {
      const store = await start('v2');
      await store.create('my-key', record);
      double.softDelete('my-key', destroyed);
      await expect(store.get('my-key')).rejects.toMatchObject({ code: 'not-found' });
      await expect(store.create('my-key', Buffer.from('new'))).rejects.toThrow(message);
      await store.delete('my-key');
      await store.create('my-key', Buffer.from('new'));
    });
  });

  describe('with version 1 of its engine', () => {
    it('lets nobody use a key before everybody who found nothing has written', async () => {
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

    it('reads the keys of other programs at once', async () => {
      const store = await start('v1');
      double.put('theirs', { theirs: 'their record' });
      expect((await store.get('theirs')).toString()).toBe('their record');
      expect(double.clock.slept).toEqual([]);
    });

    it('creates with a policy that never lets it write over', async () => {
      const store = await start('v1');
      double.denied.add('update');
      await store.create('my-key', record);
      await expect(store.create('my-key', Buffer.from('other'))).rejects.toMatchObject({ code: 'exists' });
      expect(await store.get('my-key')).toEqual(record);
    });
  });

  it.each(['v1', 'v2'] as const)('is told from one that has no such engine: %s', async (version) => {
    const store = await start(version, { engine: 'other' });
    await expect(store.create('my-key', record)).rejects.toMatchObject({
      code: expect.stringMatching(/refused|unavailable/) as string,
    });
  });

  it('says that it is sealed', async () => {
    const store = await start('v2');
    double.sealed = true;
    await expect(store.get('my-key')).rejects.toThrow(/sealed|status 503/);
    await expect(store.probe()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is asked in its namespace', async () => {
    const store = await start('v2', { namespace: 'team' });
    double.namespace = 'team';
    await store.create('my-key', record);
    expect(await store.get('my-key')).toEqual(record);
  });

  describe('is logged in to', () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'vault-'));
    });
    afterEach(() => rm(folder, { recursive: true }));

    it('once, its token lengthened until its maximum and then replaced', async () => {
      const store = await start('v2');
      for (let calls = 0; calls < 24; calls++) {
        await expect(store.get('none')).rejects.toMatchObject({ code: 'not-found' });
        double.clock.advance(500_000);
      }
      expect(double.renewals).toBeGreaterThan(3);
      expect(double.logins).toBeGreaterThanOrEqual(2);
      expect(double.logins).toBeLessThan(5);
    });

    it('not again where only a capability is lacking: a secret ID may be good for few logins', async () => {
      const store = await start('v2');
      double.denied.add('read');
      for (let calls = 0; calls < 3; calls++)
        await expect(store.get('none')).rejects.toMatchObject({ code: 'refused' });
      expect(double.logins).toBe(1);
    });

    it('by the token of a service account, read anew at each login', async () => {
      const jwt = join(folder, 'token');
      await writeFile(jwt, 'an.old.one');
      const store = await start('v2', {
        login: { kind: 'kubernetes', engine: 'kubernetes', role: vaultLogin.role, jwt },
      });
      await expect(store.get('none')).rejects.toThrow(/Kubernetes role "coffer".*is the role bound/);
      await writeFile(jwt, `${vaultLogin.jwt}\n`);
      await expect(store.get('none')).rejects.toMatchObject({ code: 'not-found' });
    });

    it('by a token that the configuration holds', async () => {
      const { jwt, role } = vaultLogin;
      const store = await start('v2', { login: { kind: 'kubernetes', engine: 'kubernetes', role, jwt } });
      await expect(store.get('none')).rejects.toMatchObject({ code: 'not-found' });
    });

    it.each<[string, Partial<VaultLogin>, string]>([
      ['a wrong secret ID', { secretId: 'wrong-value' }, 'is the secret ID neither used up'],
      ['an engine that is not there', { engine: 'other' }, 'is an auth method enabled at "other"'],
    ])('not with %s, and says what to mend', async (_, wrong, message) => {
      const store = await start('v2', { login: { ...approle, ...wrong } as VaultLogin });
      const error: unknown = await store.get('my-key').catch((error: unknown) => error);
      expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining(message) as string });
      expect(String(error)).not.toContain('wrong-value');
    });

    it('not without the certificates that the settings name', async () => {
      const store = await start('v2');
      await store.close();
      const settings = settingsFor(double, 'v2', { tls: { caFile: join(folder, 'none.crt') } });
      await expect(openVaultKeyStore(settings)).rejects.toThrow('keystore.vault.tls');
    });
  });
});
