import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { VaultKeyStoreSettings } from '../../keysvc/keystores/keystore-settings.ts';
import type { KeyStore } from '../../keysvc/keystores/keystore.ts';
import { makeKey } from '../../keysvc/keys/key.ts';
import { Keyring } from '../../keysvc/keys/keyring.ts';
import { openVaultKeyStore } from '../../keysvc/keystores/vault/vault-keystore.ts';
import { vaultConformance } from '../support/keysvc/vault.conformance.ts';
import { issueCertificate } from '../../platform/tls/issue-certificate.ts';
import { runKeysvc, startKeysvc, writePair } from '../support/server/keysvc-process.ts';
import { RealVault } from './real-vault.ts';

let vault: RealVault;

beforeAll(async () => {
  vault = await RealVault.start();
}, 360_000);
afterAll(() => vault?.stop());

type Login = { readonly roleId: string; readonly secretId: string };

const open = (login: Login, more: Partial<VaultKeyStoreSettings> = {}): Promise<KeyStore> =>
  openVaultKeyStore({
    kind: 'vault',
    endpoint: vault.endpoint,
    engine: 'kv',
    version: 'v2',
    prefix: 'coffer',
    login: { kind: 'approle', engine: 'approle', ...login },
    tls: { caFile: vault.caFile },
    ...more,
  });

describe('a real Vault that is not set up', () => {
  it('is told by the probe', async () => {
    const store = await open({ roleId: 'none', secretId: 'none' });
    await expect(store.probe()).rejects.toThrow('is not initialised');
    await vault.initialise();
    await expect(store.probe()).resolves.toBeUndefined();
  });
});

vaultConformance('a real Vault', ['hvs.'], (version) => vault.emptied(version));

describe('a real Vault', () => {
  const record = Buffer.from('record');
  let login: Login;
  beforeEach(async () => {
    const emptied = await vault.emptied('v2');
    ({ login } = emptied);
    // These tests speak to the vault itself.
    await emptied.http.close();
  });

  it('is trusted by the authority that the settings name, and by no other', async () => {
    const store = await open(login);
    await store.create('my-key', record);
    expect(await store.get('my-key')).toEqual(record);
    const untrusting = await open(login, { tls: {} });
    await expect(untrusting.probe()).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('is shown the certificate of the settings', async () => {
    const client = await issueCertificate({
      commonName: 'keysvc',
      validForMs: 3_600_000,
      issuer: vault.ca,
      usages: ['client'],
    });
    const { certFile, keyFile } = await writePair(vault.folder, 'client', client);
    const mutual = { endpoint: vault.mutualEndpoint };
    await expect((await open(login, mutual)).probe()).rejects.toMatchObject({ code: 'unreachable' });
    const store = await open(login, { ...mutual, tls: { caFile: vault.caFile, certFile, keyFile } });
    await store.create('my-key', record);
    expect(await store.get('my-key')).toEqual(record);
  });

  it('seals records by its transit engine', async () => {
    await vault.call('POST', 'sys/mounts/transit', { type: 'transit' });
    await vault.must('POST', 'transit/keys/master', {});
    await vault.setRules({
      'kv/data/*': ['create', 'read'],
      'transit/encrypt/master': ['update'],
      'transit/decrypt/master': ['update'],
    });
    const store = await open(login, { transit: { engine: 'transit', key: 'master' } });
    await store.create('my-key', record);
    const kept = await vault.must('GET', 'kv/data/coffer/my-key');
    expect(JSON.stringify(kept)).toContain('"my-key":"vault:v1:');
    expect(await store.get('my-key')).toEqual(record);
    await expect((await open(login)).get('my-key')).rejects.toThrow(/keystore\.vault\.transit/);
  });

  it('serves a key with a policy for its one record', async () => {
    await vault.setRules({ 'kv/data/coffer/a': ['create', 'read'] });
    const keyring = new Keyring(await open(login), { any: 1, unused: 1, offline: 0 });
    try {
      await keyring.create('a', makeKey(new Date()));
      await expect(keyring.get('a')).resolves.toBeDefined();
      await expect(keyring.get('b')).rejects.toMatchObject({ code: 'refused' });
    } finally {
      await keyring.close();
    }
  });

  it.each(['v1', 'v2'] as const)('whose engine is disabled is an outage, and never an absence: %s', async (version) => {
    const emptied = await vault.emptied(version);
    await emptied.http.close();
    const store = await open(emptied.login, { version });
    await store.create('my-key', record);
    await expect(store.get('none')).rejects.toMatchObject({ code: 'not-found' });
    await vault.must('DELETE', 'sys/mounts/kv');
    for (const call of [
      () => store.get('my-key'),
      () => store.create('other', record),
      () => store.delete('my-key'),
      () => Array.fromAsync(store.list()),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: expect.stringMatching(/unavailable|refused/) as string });
    }
  });

  it('is asked again once it is unsealed', async () => {
    const store = await open(login);
    await store.create('my-key', record);
    await vault.seal();
    await expect(store.get('my-key')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.probe()).rejects.toThrow('is sealed or not available');
    await vault.unseal();
    expect(await store.get('my-key')).toEqual(record);
  }, 180_000);

  it('lengthens the token of a role, and gives a new one at its maximum', async () => {
    const short = await vault.appRole({ token_ttl: '3s', token_max_ttl: '6s' });
    const store = await open(short);
    await store.create('my-key', record);
    // Longer than two tokens live.
    for (const end = Date.now() + 14_000; Date.now() < end; await sleep(250))
      expect(await store.get('my-key')).toEqual(record);
  }, 180_000);

  it('is not logged in to for a lacking capability by a secret ID that is good for one login', async () => {
    const store = await open(await vault.appRole({ secret_id_num_uses: 1 }));
    await store.create('my-key', record);
    await vault.setRules({ 'kv/data/*': ['create'] });
    await expect(store.get('my-key')).rejects.toThrow('lack the capability "read" on "kv/data/coffer/my-key"');
    await vault.setRules({ 'kv/data/*': ['create', 'read'] });
    expect(await store.get('my-key')).toEqual(record);
    await vault.revokeTokens();
    await expect(store.get('my-key')).rejects.toThrow('is the secret ID neither used up nor expired');
  });

  describe('under a key service', () => {
    let config: string;
    beforeEach(async () => {
      const pair = await issueCertificate({ commonName: 'keysvc', ipAddresses: ['127.0.0.1'], validForMs: 3_600_000 });
      const { certFile, keyFile } = await writePair(vault.folder, 'server', pair);
      config = join(vault.folder, 'keysvc.yml');
      await writeFile(
        config,
        `address: 127.0.0.1:0
root: disabled
tls: { key: ${keyFile}, cert: ${certFile}, auth: off }
keys: [{ name: my-key }]
keystore:
  vault:
    endpoint: ${vault.endpoint}
    engine: kv
    version: v2
    prefix: coffer
    approle: { id: ${login.roleId}, secret: '\${SECRET_ID}' }
    tls: { ca: ${vault.caFile} }
`,
      );
    });

    const start = async () => {
      const started = await startKeysvc(['--config', config], { SECRET_ID: login.secretId });
      await started.stop();
      return started.lines.map(({ msg }) => msg);
    };

    it('gives one of two that start at once the key that both lack', async () => {
      const lines = (await Promise.all([start(), start()])).flat();
      expect(lines.filter((line) => line === 'key "my-key" created')).toHaveLength(1);
      expect(lines.filter((line) => line === 'key "my-key" validated')).toHaveLength(1);
    }, 360_000);

    it('stops the start where a capability is lacking, and its own words are in the error', async () => {
      await vault.setRules({ 'kv/data/*': ['read'] });
      const { code, stdout, stderr } = await runKeysvc(['server', '--config', config], { SECRET_ID: login.secretId });
      expect(code).toBe(1);
      expect(stderr).toContain('lack the capability "create" on "kv/data/coffer/my-key"');
      expect(stderr).toContain('permission denied');
      expect(stdout + stderr).not.toContain(login.secretId);
    }, 360_000);
  });
});
