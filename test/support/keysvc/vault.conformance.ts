import { afterEach, describe, expect, it } from 'vitest';
import type { VaultKeyStoreSettings, VaultLogin } from '../../../keysvc/keystores/keystore-settings.ts';
import type { HttpDouble, VirtualClock } from './http-double.ts';
import { remoteKeyStoreConformance } from './remote.conformance.ts';
import { VaultKeyStore } from '../../../keysvc/keystores/vault/vault-keystore.ts';

export type Capability = 'create' | 'update' | 'read' | 'delete' | 'list';

/** A vault with an empty key-value engine at `kv`, and with roles of AppRole and Kubernetes that have the policy of the guide. */
export interface VaultUnderTest {
  /** A proxy to the vault that makes faults. */
  readonly http: HttpDouble;
  readonly clock: VirtualClock;
  readonly login: { readonly roleId: string; readonly secretId: string; readonly role: string; readonly jwt: string };
  revokeTokens(): void | Promise<void>;
  /** Acts like `vault kv put`. */
  put(path: string, data: Record<string, unknown>): void | Promise<void>;
  /** Acts like `vault kv delete` or `vault kv destroy`. */
  softDelete(path: string, destroyed?: boolean): void | Promise<void>;
  /** Acts like `vault kv undelete`. */
  undelete(path: string): void | Promise<void>;
  /** The paths of the secrets below the engine. */
  paths(): readonly string[] | Promise<readonly string[]>;
  /** Makes the policy of the roles one for the secret at a path alone, to read it; absent where a test of its own does so. */
  allowOnly?(path: string): void;
  /** Revokes a capability in the policy of the roles. */
  deny(capability: Capability): void | Promise<void>;
  seal(): void | Promise<void>;
}

function appRoleOf({ login }: VaultUnderTest): VaultLogin {
  return { kind: 'approle', engine: 'approle', roleId: login.roleId, secretId: login.secretId };
}

export function vaultSettings(
  vault: VaultUnderTest,
  version: 'v1' | 'v2',
  more: Partial<VaultKeyStoreSettings> = {},
): VaultKeyStoreSettings {
  const endpoint = vault.http.url;
  return { kind: 'vault', endpoint, engine: 'kv', version, prefix: '', login: appRoleOf(vault), tls: {}, ...more };
}

const isForKeys = ({ url }: { url: URL }) => url.pathname.startsWith('/v1/kv/');

/** The contract of the key store on a vault, for the double and for a real one. `start` returns an empty vault. */
export function vaultConformance(
  name: string,
  secrets: readonly string[],
  start: (version: 'v1' | 'v2') => Promise<VaultUnderTest>,
): void {
  describe.each(['v1', 'v2'] as const)(`${name} with its engine %s`, (version) => {
    const data = version === 'v1' ? 'kv' : 'kv/data';
    const metadata = version === 'v1' ? 'kv' : 'kv/metadata';
    remoteKeyStoreConformance({
      name: `${name} ${version}`,
      async start() {
        const vault = await start(version);
        const { clock, http } = vault;
        return {
          clock,
          http,
          open: (options) => new VaultKeyStore(vaultSettings(vault, version), { clock, ...options }),
          revokeTokens: () => vault.revokeTokens(),
          ...(version === 'v1'
            ? {}
            : { trash: { delete: (key) => vault.softDelete(key), recover: (key) => vault.undelete(key) } }),
          deny: (capability) => vault.deny(capability as Capability),
          ...(vault.allowOnly && { allowOnly: (key) => vault.allowOnly?.(key) }),
          close: () => http.close(),
        };
      },
      isForKeys,
      isWrite: (request) => isForKeys(request) && request.method === 'POST',
      secrets,
      permissions: [
        ['create', 'create', `lack the capability "create" on "${data}/new"`],
        ['get', 'read', `lack the capability "read" on "${data}/kept"`],
        ['delete', 'delete', `lack the capability "delete" on "${metadata}/kept"`],
        ['list', 'list', `lack the capability "list" on "${metadata}/"`],
      ],
    });
  });

  describe(name, () => {
    const record = Buffer.from('record');
    let vault: VaultUnderTest;
    afterEach(() => vault.http.close());

    const open = async (version: 'v1' | 'v2', more: Partial<VaultKeyStoreSettings> = {}) => {
      vault = await start(version);
      return new VaultKeyStore(vaultSettings(vault, version, more), { clock: vault.clock, attemptMs: 60_000 });
    };
    const logins = () => vault.http.requests.filter(({ url }) => url.pathname.endsWith('/login')).length;

    it('has a key under its prefix, in a field of its name, as other programs of the protocol write it', async () => {
      const store = await open('v2', { prefix: 'team/minio' });
      await store.create('my-key', record);
      expect(await vault.paths()).toEqual(['team/minio/my-key']);
      await vault.put('team/minio/theirs', { theirs: 'their record' });
      expect((await store.get('theirs')).toString()).toBe('their record');
      expect((await Array.fromAsync(store.list())).sort()).toEqual(['my-key', 'theirs']);
    });

    it('tells that a key was written over, and takes one that was rolled back', async () => {
      const store = await open('v2');
      await store.create('my-key', record);
      await vault.put('my-key', { 'my-key': 'other' });
      await expect(store.get('my-key')).rejects.toThrow(/written over.*version 2.*vault kv rollback/);
      await vault.put('my-key', { 'my-key': record.toString() });
      expect(await store.get('my-key')).toEqual(record);
    });

    it.each([
      ['can be recovered', false, 'vault kv undelete'],
      ['is destroyed', true, 'bytes are destroyed'],
    ])('does not give the name of a deleted key away that %s', async (_, destroyed, message) => {
      const store = await open('v2');
      await store.create('my-key', record);
      await vault.softDelete('my-key', destroyed);
      await expect(store.get('my-key')).rejects.toMatchObject({ code: 'not-found' });
      await expect(store.create('my-key', Buffer.from('new'))).rejects.toThrow(message);
      await store.delete('my-key');
      await store.create('my-key', Buffer.from('new'));
    });

    it('has the keys of other programs in version 1 of its engine, and they are read at once', async () => {
      const store = await open('v1');
      await vault.put('theirs', { theirs: 'their record' });
      expect((await store.get('theirs')).toString()).toBe('their record');
      expect(vault.clock.slept).toEqual([]);
    });

    it.each(['v1', 'v2'] as const)('creates with a policy that never lets the role write over: %s', async (version) => {
      const store = await open(version);
      await vault.deny('update');
      await store.create('my-key', record);
      await expect(store.create('my-key', Buffer.from('other'))).rejects.toMatchObject({ code: 'exists' });
      expect(await store.get('my-key')).toEqual(record);
    });

    it.each(['v1', 'v2'] as const)('is told from one that has no such engine: %s', async (version) => {
      const store = await open(version, { engine: 'other' });
      await expect(store.create('my-key', record)).rejects.toMatchObject({
        code: expect.stringMatching(/refused|unavailable/) as string,
      });
    });

    it('says that it is sealed', async () => {
      const store = await open('v2');
      await vault.seal();
      await expect(store.get('my-key')).rejects.toThrow(/sealed/);
      await expect(store.probe()).rejects.toMatchObject({ code: 'unavailable' });
    });

    it('is not logged in to again where only a capability is lacking: a secret ID may be good for few logins', async () => {
      const store = await open('v2');
      await vault.deny('read');
      for (let calls = 0; calls < 3; calls++)
        await expect(store.get('none')).rejects.toMatchObject({ code: 'refused' });
      expect(logins()).toBe(1);
    });

    it('is logged in to by the token of a service account', async () => {
      const store = await open('v2');
      await store.close();
      const { jwt, role } = vault.login;
      const opened = (login: Partial<VaultLogin>) =>
        new VaultKeyStore(
          vaultSettings(vault, 'v2', {
            login: { kind: 'kubernetes', engine: 'kubernetes', role, jwt, ...login } as VaultLogin,
          }),
          { clock: vault.clock, attemptMs: 60_000 },
        );
      await expect(opened({}).get('none')).rejects.toMatchObject({ code: 'not-found' });
      await expect(opened({ role: 'other' }).get('none')).rejects.toThrow(/Kubernetes role "other".*is the role bound/);
      await expect(opened({ jwt: 'an.old.one' }).get('none')).rejects.toThrow(/Kubernetes role.*is the role bound/);
    });

    it.each<[string, Partial<VaultLogin>, string]>([
      ['a wrong secret ID', { secretId: 'wrong-value' }, 'is the secret ID neither used up'],
      ['an engine that is not there', { engine: 'other' }, 'is an auth method enabled at "other"'],
    ])('is not logged in to with %s, and says what to mend', async (_, wrong, message) => {
      const store = await open('v2');
      await store.close();
      const login = { ...appRoleOf(vault), ...wrong } as VaultLogin;
      const opened = new VaultKeyStore(vaultSettings(vault, 'v2', { login }), { clock: vault.clock });
      const error: unknown = await opened.get('my-key').catch((error: unknown) => error);
      expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining(message) as string });
      expect(String(error)).not.toContain('wrong-value');
    });
  });
}
