import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AzureLogin } from '../keystore-settings.ts';
import { VirtualClock } from '../../../test/support/keysvc/http-double.ts';
import type { Remote, RemoteRequest } from '../remote/remote.ts';
import { remoteKeyStoreConformance } from '../../../test/support/keysvc/remote.conformance.ts';
import { AzureDouble } from '../../../test/support/keysvc/azure-double.ts';
import { AzureKeyStore, openAzureKeyStore } from './azure-keystore.ts';
import { AzureVault } from './azure-vault.ts';
import { entraLogin } from '../../../test/support/keysvc/entra-double.ts';

const clientSecret: AzureLogin = {
  kind: 'client-secret',
  tenantId: entraLogin.tenantId,
  clientId: entraLogin.clientId,
  clientSecret: entraLogin.clientSecret,
};

function openStore(double: AzureDouble, login: AzureLogin = clientSecret, environment = {}): AzureKeyStore {
  const settings = { kind: 'azure', endpoint: double.http.url, login } as const;
  const options = { clock: double.clock, ca: double.ca, attemptMs: 60_000 };
  return new AzureKeyStore(settings, options, { ...double.environment, ...environment });
}

remoteKeyStoreConformance({
  name: 'Azure Key Vault',
  async start() {
    const clock = new VirtualClock();
    const double = await AzureDouble.start(clock);
    const settings = { kind: 'azure', endpoint: double.http.url, login: clientSecret } as const;
    return {
      clock,
      http: double.http,
      open: (options) => new AzureKeyStore(settings, { clock, ca: double.ca, ...options }, double.environment),
      revokeTokens: () => double.entra.revokeTokens(),
      trash: { delete: (name) => double.deleteInPortal(name), recover: (name) => double.recover(name) },
      deny: (permission) => double.denied.add(permission.toLowerCase() as 'get'),
      allowOnly: (key) => void (double.onlySecret = key),
      close: () => double.http.close(),
    };
  },
  names: ['b', 'a', 'x'.repeat(80), 'with-dash'],
  isForKeys: ({ url, headers }) => url.pathname.includes('secrets') && headers.authorization !== undefined,
  isWrite: ({ method, headers }) => method === 'PUT' && headers.authorization !== undefined,
  secrets: [entraLogin.clientSecret, 'token-'],
  permissions: [
    ['create', 'Set', 'secret permission "Set"'],
    ['create', 'List', 'secret permission "List"'],
    ['get', 'Get', 'secret permission "Get"'],
    ['get', 'List', 'secret permission "List"'],
    ['delete', 'Delete', 'secret permission "Delete"'],
    ['delete', 'Purge', 'secret permission "Purge"'],
    ['list', 'List', 'secret permission "List"'],
  ],
});

const record = Buffer.from('record');

async function works(double: AzureDouble, login: AzureLogin, environment: Record<string, string> = {}): Promise<void> {
  const store = openStore(double, login, environment);
  await store.create('my-key', record);
  expect(await store.get('my-key')).toEqual(record);
}

describe('Azure Key Vault', () => {
  let double: AzureDouble;
  let store: AzureKeyStore;

  beforeEach(async () => {
    double = await AzureDouble.start(new VirtualClock());
    store = openStore(double);
  });
  afterEach(() => double.http.close());

  describe('has no "create if there is none", so', () => {
    it('of two versions of one second every server takes that of the smaller ID', async () => {
      double.put('raced', 'second');
      double.put('raced', 'first', {});
      const ids = ['f', '0'];
      double.nextVersionId = () => ids.shift() ?? 'x';
      double.put('tied', 'greater ID');
      double.put('tied', 'smaller ID');
      expect((await store.get('tied')).toString()).toBe('smaller ID');
    });

    it('nobody uses a key before no older version can come any more', async () => {
      const ids = ['f', '0'];
      double.nextVersionId = () => ids.shift() ?? 'x';
      double.put('raced', 'greater ID');
      // The valid version is still being written when the first reader lists.
      let late = false;
      double.http.faultOf = ({ url, headers }) => {
        if (url.pathname.endsWith('/versions') && headers.authorization !== undefined && !late) {
          late = true;
          setImmediate(() => double.put('raced', 'smaller ID'));
        }
        return undefined;
      };
      expect((await store.get('raced')).toString()).toBe('smaller ID');
      expect(double.clock.slept).toEqual([2000]);
    });

    it('a creator whose version is not the one that counts is told so', async () => {
      const ids = ['f', '0'];
      double.nextVersionId = () => ids.shift() ?? 'x';
      double.http.faultOf = ({ method, headers }) => {
        if (method === 'PUT' && headers.authorization !== undefined)
          setImmediate(() => double.put('raced', 'smaller ID'));
        return undefined;
      };
      await expect(store.create('raced', record)).rejects.toMatchObject({ code: 'exists' });
      expect((await store.get('raced')).toString()).toBe('smaller ID');
    });

    it('a version that is written later changes nothing, be there hundreds', async () => {
      await store.create('my-key', record);
      double.clock.advance(60_000);
      for (let i = 0; i < 130; i++) double.put('my-key', `later ${i}`);
      expect(await store.get('my-key')).toEqual(record);
    });
  });

  it('is logged in to by the authority and the audience of the configuration, without a variable', async () => {
    const asked = () => double.http.requests.findLast(({ url }) => url.pathname.endsWith('/token'))?.body;
    const settings = {
      kind: 'azure',
      endpoint: double.http.url,
      authority: double.http.url,
      audience: 'https://vault.azure.net',
      login: clientSecret,
    } as const;
    const options = { clock: double.clock, ca: double.ca, attemptMs: 60_000 };
    const configured = new AzureKeyStore(settings, options, {});
    await configured.create('my-key', record);
    expect(asked()).toContain(encodeURIComponent('https://vault.azure.net/.default'));
  });

  it('is not logged in to by an authority that answers otherwise, whose text is told without the secret', async () => {
    double.http.faultOf = ({ url }) =>
      url.pathname.endsWith('/token')
        ? { status: 404, body: { error: { message: `no tenant here (${entraLogin.clientSecret})` } } }
        : undefined;
    await expect(store.get('my-key')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('status 404: no tenant here (…)') as string,
    });
  });

  it('reads the authorities that the configuration names', async () => {
    const settings = {
      kind: 'azure',
      endpoint: double.http.url,
      caFile: '/nonexistent.crt',
      login: clientSecret,
    } as const;
    await expect(openAzureKeyStore(settings)).rejects.toThrow('keystore.azure.keyvault.tls');
  });

  describe('keeps deleted secrets, so', () => {
    it('a key is purged when it is deleted, once the vault is through with the deletion', async () => {
      await store.create('my-key', record);
      await store.delete('my-key');
      await store.create('my-key', Buffer.from('new'));
      expect((await store.get('my-key')).toString()).toBe('new');
    });

    it('a key that was deleted in the portal is not purged to make room', async () => {
      await store.create('my-key', record);
      double.denied.add('purge');
      await expect(store.delete('my-key')).rejects.toMatchObject({ code: 'refused' });
      double.denied.clear();
      await expect(store.create('my-key', record)).rejects.toThrow(
        /can be recovered.*az keyvault secret recover.*keysvc key rm my-key/,
      );
      await expect(store.get('my-key')).rejects.toMatchObject({ code: 'not-found' });
    });

    it('a deletion that was interrupted can be asked for again', async () => {
      await store.create('my-key', record);
      double.denied.add('purge');
      await expect(store.delete('my-key')).rejects.toThrow('"Purge"');
      double.denied.clear();
      await store.delete('my-key');
      await store.create('my-key', Buffer.from('new'));
    });

    it('a deleted key is told where the vault sends no inner code', async () => {
      double.tellsInnerCodes = false;
      await store.create('my-key', record);
      double.deleteInPortal('my-key');
      await expect(store.create('my-key', Buffer.from('new'))).rejects.toThrow(/can be recovered.*az keyvault/);
      await store.delete('my-key');
      // The purge takes some time, in which the vault reports the deletion.
      await store.create('my-key', Buffer.from('new'));
    });

    it('a deleted key that purge protection keeps is not said to be removed', async () => {
      await store.create('my-key', record);
      double.deleteInPortal('my-key');
      double.purgeProtected = true;
      await expect(store.delete('my-key')).rejects.toThrow(/purge protection.*az keyvault secret recover/);
    });

    it('with purge protection a deletion is over when it is asked for, and its name stays taken', async () => {
      double.purgeProtected = true;
      await store.create('my-key', record);
      await store.delete('my-key');
      await expect(store.get('my-key')).rejects.toMatchObject({ code: 'not-found' });
      double.clock.advance(60_000);
      await expect(store.create('my-key', record)).rejects.toMatchObject({ code: 'refused' });
      await expect(store.delete('my-key')).rejects.toThrow('purge protection');
    });
  });

  describe('finds names by any case, so', () => {
    it('a key is none of a name that differs in case', async () => {
      await store.create('My-Key', record);
      await expect(store.get('my-key')).rejects.toThrow('differs from the key "my-key" only in case');
      await expect(store.create('MY-KEY', record)).rejects.toMatchObject({ code: 'refused' });
    });

    it('a name with "_" is refused with the reason', async () => {
      await expect(store.create('my_key', record)).rejects.toThrow(
        'cannot hold the key "my_key": names of Azure Key Vault',
      );
      await expect(store.get('my_key')).rejects.toMatchObject({ code: 'not-found' });
      await expect(store.delete('my_key')).rejects.toMatchObject({ code: 'not-found' });
    });
  });

  it('holds back a key that is disabled, expired or not yet to be used', async () => {
    const now = double.clock.now() / 1000;
    double.put('disabled', 'x', { created: 1, enabled: false });
    double.put('expired', 'x', { created: 1, exp: now - 1 });
    double.put('early', 'x', { created: 1, nbf: now + 60 });
    for (const name of ['disabled', 'expired', 'early']) {
      await expect(store.get(name)).rejects.toMatchObject({ code: 'refused' });
    }
  });

  describe('is asked for nothing', () => {
    it('by way of a page of another address', async () => {
      await store.create('my-key', record);
      const page = { value: [], nextLink: 'https://vault.example.com/secrets?$skiptoken=1' };
      double.http.faultOf = ({ url }) => (url.pathname === '/secrets' ? { status: 200, body: page } : undefined);
      await expect(Array.fromAsync(store.list())).rejects.toThrow('is not its own domain');
    });

    it('with a token for something else', async () => {
      // Only a vault on this machine may have another domain than its tokens.
      const settings = { kind: 'azure', endpoint: 'https://keys.example.com', login: clientSecret } as const;
      const sent: RemoteRequest[] = [];
      const remote = {
        clock: double.clock,
        ask: (request: RemoteRequest) => {
          sent.push(request);
          const challenge =
            'Bearer authorization="https://login.windows.net/tenant", resource="https://vault.azure.net"';
          const headers = new Headers({ 'www-authenticate': challenge });
          return Promise.resolve({ status: 401, headers, text: '', repeated: false });
        },
      } as Partial<Remote> as Remote;
      const vault = new AzureVault(settings, remote, {});
      const asked = vault.attempt((secrets) => secrets.setSecret('my-key', 'record'));
      await expect(asked).rejects.toThrow('for a token of vault.azure.net, which is not its own domain: none was sent');
      expect(sent).toHaveLength(1);
      expect(sent[0]).not.toHaveProperty('body');
    });

    it('where it asks for no token that a vault asks for', async () => {
      double.http.faultOf = () => ({ status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } });
      await expect(store.get('my-key')).rejects.toThrow('is it the address of a key vault?');
    });
  });

  describe('is logged in to', () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'azure-'));
    });
    afterEach(async () => {
      vi.unstubAllEnvs();
      await rm(folder, { recursive: true });
    });

    it('by a managed identity, of the machine or assigned by a user', async () => {
      for (const [name, value] of Object.entries(double.environment)) vi.stubEnv(name, value);
      await works(double, { kind: 'managed-identity' });
      double.clock.advance(10_000);
      expect(
        await openStore(double, { kind: 'managed-identity', clientId: entraLogin.clientId }).get('my-key'),
      ).toEqual(record);
    });

    it('by a workload identity, from what the webhook sets', async () => {
      const file = join(folder, 'token');
      await writeFile(file, `${entraLogin.assertion}\n`);
      await works(
        double,
        { kind: 'workload-identity' },
        {
          AZURE_FEDERATED_TOKEN_FILE: file,
          AZURE_TENANT_ID: entraLogin.tenantId,
          AZURE_CLIENT_ID: entraLogin.clientId,
        },
      );
    });

    it('by a workload identity whose token is renewed in place', async () => {
      const tokenFile = join(folder, 'token');
      const { tenantId, clientId } = entraLogin;
      await writeFile(tokenFile, 'an.old.one');
      const store = openStore(double, { kind: 'workload-identity', tenantId, clientId, tokenFile });
      await expect(store.get('my-key')).rejects.toThrow('no federated credential');
      await writeFile(tokenFile, Buffer.from('an.öld.one', 'latin1'));
      await expect(store.get('my-key')).rejects.toThrow(`cannot read the token ${tokenFile}: it is not UTF-8`);
      await writeFile(tokenFile, `\uFEFF${entraLogin.assertion}\r\n`);
      await expect(store.get('my-key')).rejects.toMatchObject({ code: 'not-found' });
    });

    it('once for many calls, and again before the token ends', async () => {
      await Promise.all(Array.from({ length: 20 }, () => store.get('none').catch(() => {})));
      expect(double.entra.logins).toBe(1);
      double.clock.advance(3_400_000);
      await store.get('none').catch(() => {});
      expect(double.entra.logins).toBe(2);
    });

    it.each<[string, Partial<Extract<AzureLogin, { kind: 'client-secret' }>>, RegExp]>([
      ['a wrong secret', { clientSecret: 'wrong-value' }, /client secret is wrong.*AADSTS7000215/],
      ['an unknown application', { clientId: 'other' }, /no such application in this tenant.*AADSTS700016/],
      ['an unknown tenant', { tenantId: 'other' }, /no such tenant.*AADSTS90002/],
    ])('not with %s, and says what to mend', async (_, wrong, message) => {
      const store = openStore(double, { ...clientSecret, ...wrong });
      const error: unknown = await store.get('my-key').catch((error: unknown) => error);
      expect(error).toMatchObject({ code: 'refused', message: expect.stringMatching(message) as string });
      expect(String(error)).not.toContain('wrong-value');
    });

    it('not without what the webhook sets', async () => {
      const store = openStore(double, { kind: 'workload-identity' });
      await expect(store.get('my-key')).rejects.toThrow('AZURE_FEDERATED_TOKEN_FILE');
    });

    it('not with a token that the vault never takes', async () => {
      double.entra.isForeign = true;
      await expect(store.get('my-key')).rejects.toThrow(
        /does not take the token of the application .*login\.microsoftonline\.com/,
      );
    });
  });
});
