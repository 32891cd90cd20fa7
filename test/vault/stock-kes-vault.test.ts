import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { makeCa } from '../../platform/tls/issue-certificate.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { freePort } from '../support/process/free-port.ts';
import { issue, runKeysvc, startKeysvc, writePair, type KeysvcProcess } from '../support/server/keysvc-process.ts';
import { RealVault } from './real-vault.ts';
import { askBy, startKes, type Answer, type StockKes } from './start-kes.ts';

// A KES whose keys are in a real vault moves in: its configuration is given to the key service as it is.

let vault: RealVault;
let folder: string;
let ca: CertificateAndKey;
let client: CertificateAndKey;
let files: { readonly certFile: string; readonly keyFile: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-stock-vault-'));
  ca = await makeCa({ commonName: 'test', validForMs: 3_600_000 });
  client = await issue(ca, 'app');
  files = await writePair(folder, 'server', await issue(ca, 'server'));
  vault = await RealVault.start();
  await vault.initialise();
}, 360_000);
afterAll(async () => {
  await vault?.stop();
  await rm(folder, { recursive: true, force: true });
});

type Version = 'v1' | 'v2';

const read = (version: Version, key: string) => (version === 'v1' ? `kv/team/${key}` : `kv/data/team/${key}`);
const transitRules = { 'transit/encrypt/master': ['update'], 'transit/decrypt/master': ['update'] } as const;

async function writeConfiguration(name: string, port: number, keystore: string): Promise<string> {
  const file = join(folder, `${name}.yml`);
  await writeFile(
    file,
    `
version: v1
address: 127.0.0.1:${port}
admin: { identity: _ }
tls: { key: ${files.keyFile}, cert: ${files.certFile}, auth: off }
policy:
  app: { allow: [/v1/key/*, /v1/status], identities: ["\${ APP_IDENTITY }"] }
cache: { expiry: { any: 5m0s, unused: 20s, offline: 0s } }
log: { error: on, audit: off }
keystore: ${keystore}
`,
  );
  return file;
}

const ask = (port: number, method: string, path: string, body?: object): Promise<Answer> =>
  askBy({ ca, client }, port, [method, path, body === undefined ? undefined : JSON.stringify(body)]);

describe.each<[Version, string]>([
  ['v1', ''],
  ['v2', ''],
  ['v1', 'transit: { engine: "", key: master }'],
  ['v2', 'transit: { engine: transit, key: master }'],
])('a KES with its keys in a vault, version %s %s', (version, transit) => {
  let login: { readonly roleId: string; readonly secretId: string };
  let kes: StockKes | undefined;
  let keysvc: KeysvcProcess | undefined;
  let config: string;
  let ports: { readonly kes: number; readonly keysvc: number };
  let environment: Record<string, string>;

  const keystore = () => `
  vault:
    endpoint: ${vault.endpoint}
    engine: kv
    version: ${version}
    namespace: ""
    prefix: team
    ${transit}
    approle: { namespace: "", engine: "", id: "\${ROLE_ID}", secret: "\${SECRET_ID}", retry: 15s }
    tls: { key: "", cert: "", ca: ${vault.caFile} }
    status: { ping: 10s }`;
  const stock = (method: string, path: string, body?: object) => ask(ports.kes, method, path, body);
  const own = (method: string, path: string, body?: object) => ask(ports.keysvc, method, path, body);

  beforeAll(async () => {
    const { http } = await vault.emptied(version);
    await http.close();
    if (transit !== '') {
      await vault.call('POST', 'sys/mounts/transit', { type: 'transit' });
      await vault.must('POST', 'transit/keys/master', {});
    }
    login = await vault.appRole({});
    environment = {
      APP_IDENTITY: identityOfCertificate(client.certPem),
      ROLE_ID: login.roleId,
      SECRET_ID: login.secretId,
    };
    ports = { kes: await freePort(), keysvc: await freePort() };
    await vault.setRules({
      [version === 'v1' ? 'kv/*' : 'kv/data/*']: ['create', 'read', 'delete', 'list'],
      'kv/metadata/*': ['read', 'list', 'delete'],
      ...transitRules,
    });
    kes = await startKes({
      config: await writeConfiguration('kes', ports.kes, keystore()),
      port: ports.kes,
      folder,
      environment,
    });
    for (const key of ['a', 'b']) expect((await stock('PUT', `/v1/key/create/${key}`)).status).toBe(200);
    config = await writeConfiguration('keysvc', ports.keysvc, keystore());
  }, 360_000);
  beforeEach(async () => {
    keysvc ??= await startKeysvc(['--config', config], environment);
  }, 180_000);
  afterAll(async () => {
    await kes?.stop();
    await keysvc?.stop();
  });

  it('has the same keys in the key service, and each opens what the other has sealed', async () => {
    for (const key of ['a', 'b']) expect((await own('GET', `/v1/key/describe/${key}`)).status).toBe(200);
    const ofStock = await stock('PUT', '/v1/key/generate/a', {});
    const ofOwn = await own('PUT', '/v1/key/generate/a', {});
    expect(await own('PUT', '/v1/key/decrypt/a', { ciphertext: ofStock.body['ciphertext'] })).toMatchObject({
      status: 200,
      body: { plaintext: ofStock.body['plaintext'] },
    });
    expect(await stock('PUT', '/v1/key/decrypt/a', { ciphertext: ofOwn.body['ciphertext'] })).toMatchObject({
      status: 200,
      body: { plaintext: ofOwn.body['plaintext'] },
    });
  });

  it('takes over a key that the key service makes', async () => {
    expect((await own('PUT', '/v1/key/create/made')).status).toBe(200);
    const made = await own('PUT', '/v1/key/generate/made', {});
    expect(await stock('PUT', '/v1/key/decrypt/made', { ciphertext: made.body['ciphertext'] })).toMatchObject({
      status: 200,
      body: { plaintext: made.body['plaintext'] },
    });
  });

  it.each([
    ['a key that is there', 'PUT', '/v1/key/create/a'],
    ['a key that is not', 'PUT', '/v1/key/generate/none'],
    ['the description of no key', 'GET', '/v1/key/describe/none'],
    // KES answers the removal of no key by 200 here, and by 404 with other stores.
  ])('answers %s as the key service does', async (_, method, path) => {
    const [theirs, ours] = [await stock(method, path), await own(method, path)];
    expect([ours.status, ours.body['message']]).toEqual([theirs.status, theirs.body['message']]);
  });

  it('moves its keys to another store by keysvc migrate', async () => {
    const port = await freePort();
    const store = `{ fs: { path: ${join(folder, `moved-${version}-${transit.length}`)} } }`;
    const to = await writeConfiguration('moved', port, store);
    expect(await runKeysvc(['migrate', '--from', config, '--to', to], environment)).toMatchObject({ code: 0 });
    const sealed = await stock('PUT', '/v1/key/generate/b', {});
    const moved = await startKeysvc(['--config', to], environment);
    try {
      const opened = await ask(port, 'PUT', '/v1/key/decrypt/b', { ciphertext: sealed.body['ciphertext'] });
      expect(opened).toMatchObject({ status: 200, body: { plaintext: sealed.body['plaintext'] } });
    } finally {
      await moved.stop();
    }
  }, 180_000);

  it('works with a policy for its one key in the key service too', async () => {
    const sealed = await stock('PUT', '/v1/key/generate/a', {});
    await vault.setRules({ [read(version, 'a')]: ['read'], ...transitRules });
    await keysvc?.stop();
    keysvc = await startKeysvc(['--config', config], environment);
    expect(await own('PUT', '/v1/key/decrypt/a', { ciphertext: sealed.body['ciphertext'] })).toMatchObject({
      status: 200,
      body: { plaintext: sealed.body['plaintext'] },
    });
    expect((await own('PUT', '/v1/key/generate/a', {})).status).toBe(200);
    // What may not be read is not called missing.
    expect((await own('PUT', '/v1/key/generate/b', {})).status).toBe(502);
  }, 180_000);
});
