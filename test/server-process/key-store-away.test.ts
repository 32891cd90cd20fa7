import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { VirtualClock, type Fault } from '../support/keysvc/http-double.ts';
import { VaultDouble, vaultLogin } from '../support/keysvc/vault-double.ts';
import { freePort } from '../support/process/free-port.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { issue, runKeysvc, startKeysvc, writePair, type KeysvcProcess } from '../support/server/keysvc-process.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

// A server, a key service and the place of its keys, each a process of its own: what clients and administrators are told while the place is away,
// and when another one is in its stead.

const Bucket = 'sealed';
const sealed = { ServerSideEncryption: 'aws:kms' } as const;
const away = /the key store behind it \(a vault, for instance\) fails/;

interface Setup {
  readonly folder: string;
  readonly config: string;
  readonly server: RunningServer;
  readonly s3: S3Client;
  keysvc: KeysvcProcess;
  /** Starts the key service again with another key store. */
  restart(keystore?: string): Promise<void>;
  put(bucket?: string): Promise<string>;
  get(): Promise<string>;
  admin(path: string): Promise<{ readonly status: number; readonly value: unknown }>;
  stop(): Promise<void>;
}

/** Returns `ok`, or the status, code and message of the error. */
async function told(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
    return `${$metadata?.httpStatusCode} ${name}: ${message}`;
  }
}

async function readOld(s3: S3Client): Promise<void> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: 'old' }));
  expect(await Body?.transformToString()).toBe('in use');
}

async function start(keystore: (folder: string) => string, app?: CertificateAndKey): Promise<Setup> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-key-store-away-'));
  const port = await freePort();
  const ca = await makeCa({ commonName: 'test', validForMs: 3_600_000 });
  const caFile = join(folder, 'ca.crt');
  await writeFile(caFile, ca.certPem);
  const client = app ?? (await issue(ca, 'app'));
  const appFiles = await writePair(folder, 'app', client);
  const keysFiles = await writePair(folder, 'keys', await issue(ca, 'keys'));
  const config = join(folder, 'keysvc.yaml');
  const write = (store: string) =>
    writeFile(
      config,
      `
address: 127.0.0.1:${port}
root: disabled
tls: { key: ${keysFiles.keyFile}, cert: ${keysFiles.certFile}, ca: ${caFile} }
policy:
  app: { allow: [/v1/key/*, /v1/status], identities: [${identityOfCertificate(client.certPem)}] }
# Short, so that each call is answered by the store.
cache: { expiry: { any: 1ms, unused: 1ms, offline: 0s } }
keys: [{ name: main-key }]
keystore: ${store}
`,
    );
  await write(keystore(folder));
  const keysvc = await startKeysvc(['--config', config]);
  const server = await startServer({
    env: {
      SVC_KMS_KEYSVC_ENDPOINT: `https://127.0.0.1:${port}`,
      SVC_KMS_KEYSVC_KEY_NAME: 'main-key',
      SVC_KMS_KEYSVC_CERT_FILE: appFiles.certFile,
      SVC_KMS_KEYSVC_KEY_FILE: appFiles.keyFile,
      SVC_KMS_KEYSVC_CAPATH: caFile,
    },
  });
  // A connection stays with one thread, which has the data keys of the bucket in memory.
  const s3 = s3Client(server);
  const setup: Setup = {
    folder,
    config,
    server,
    s3,
    keysvc,
    async restart(store) {
      await setup.keysvc.stop();
      if (store !== undefined) await write(store);
      setup.keysvc = await startKeysvc(['--config', config]);
    },
    async put(bucket) {
      if (bucket !== undefined) await s3.send(new CreateBucketCommand({ Bucket: bucket }));
      return told(s3.send(new PutObjectCommand({ Bucket: bucket ?? Bucket, Key: 'new', Body: 'x', ...sealed })));
    },
    get: () => told(readOld(s3)),
    admin: (path) => adminCall(server.s3, server, 'GET', path),
    async stop() {
      await server.stop();
      await setup.keysvc.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return setup;
}

async function use({ server, s3 }: Setup): Promise<void> {
  await untilReady(server);
  await s3.send(new CreateBucketCommand({ Bucket }));
  await s3.send(new PutObjectCommand({ Bucket, Key: 'old', Body: 'in use', ...sealed }));
}

const status = '/minio/kms/v1/key/status?key-id=main-key';
const list = '/minio/kms/v1/key/list?pattern=*';

describe('a key service whose folder of keys is lost', { timeout: 360_000 }, () => {
  let setup: Setup;
  let files: string;
  beforeAll(async () => {
    setup = await start((folder) => `{ fs: { path: ${join(folder, 'mount', 'keys')} } }`);
    files = join(setup.folder, 'mount', 'keys');
    await use(setup);
  }, 180_000);
  afterAll(() => setup?.stop());

  it('while it runs, is an outage of the key store: what is in use stays, lists fail, and it ends by itself', async () => {
    await rename(files, `${files}.away`);
    expect(await setup.get()).toBe('ok');
    expect(await setup.put('cold-1')).toMatch(/^503 ServiceUnavailable: /);
    expect(await setup.put('cold-2')).toMatch(away);
    expect(await setup.get()).toBe('ok');
    expect(await setup.put()).toBe('ok');
    expect((await setup.admin(list)).status).toBeGreaterThanOrEqual(500);
    await rename(`${files}.away`, files);
    expect(await setup.put('cold-3')).toBe('ok');
    expect(await setup.admin(list)).toMatchObject({ status: 200, value: [{ name: 'main-key' }] });
  });

  it('at its start, is not begun anew', async () => {
    await setup.keysvc.stop();
    await rename(files, `${files}.away`);
    const refused = await runKeysvc(['server', '--config', setup.config]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/was in use as the key store/)]);
    expect(await setup.get()).toBe('ok');
    expect(await setup.put('cold-4')).toMatch(/^503 ServiceUnavailable: /);
    await rename(`${files}.away`, files);
    setup.keysvc = await startKeysvc(['--config', setup.config]);
    expect(await setup.put('cold-5')).toBe('ok');
  });

  it('and that gets new keys under the old names in another place, seals nothing under them, and the status names it', async () => {
    await setup.restart(`{ fs: { path: ${join(setup.folder, 'elsewhere')} } }`);
    expect(await setup.get()).toBe('ok');
    const refused = await setup.put('cold-6');
    expect(refused).toMatch(/^400 KMS\.KMSInvalidStateException: .*main-key/);
    expect(refused).not.toContain('try again');
    expect((await setup.admin(status)).value).toMatchObject({
      'decryption-error': expect.stringContaining('changed or wrong key') as string,
    });
    await setup.restart(`{ fs: { path: ${files} } }`);
    expect(await setup.put('cold-7')).toBe('ok');
    expect(await setup.get()).toBe('ok');
    expect((await setup.admin(status)).value).toEqual({ 'key-id': 'main-key' });
  });
});

describe('a key service whose vault', { timeout: 360_000 }, () => {
  let setup: Setup;
  let vault: VaultDouble;
  beforeAll(async () => {
    vault = await VaultDouble.start(new VirtualClock(), 'v2');
    const login = `approle: { id: ${vaultLogin.roleId}, secret: ${vaultLogin.secretId} }`;
    setup = await start(() => `{ vault: { endpoint: "${vault.http.url}", engine: kv, version: v2, ${login} } }`);
    await use(setup);
  }, 180_000);
  afterAll(async () => {
    await setup?.stop();
    await vault?.http.close();
  });

  it.each<[string, Fault]>([
    ['is behind a proxy that answers 404', { status: 404, body: '<html>404 page not found</html>' }],
    ['is sealed', { status: 503, body: { errors: ['Vault is sealed'] } }],
    ['never answers', 'silence'],
  ])('%s is told as what is away, and what is in use stays', async (name, fault) => {
    vault.http.faultOf = () => fault;
    const bucket = `cold-${name.length}`;
    expect(await setup.get()).toBe('ok');
    expect(await setup.put(bucket)).toMatch(/^503 ServiceUnavailable: /);
    expect(await setup.put(`${bucket}-again`)).toMatch(away);
    expect(await setup.get()).toBe('ok');
    vault.http.faultOf = () => undefined;
    await expect.poll(() => setup.put(), { timeout: 90_000 }).toBe('ok');
    expect(await setup.put(`${bucket}-after`)).toBe('ok');
  });
});

it('a server whose certificate has no subject and another issuer is told why by the key service', async () => {
  const hour = 3_600_000;
  const issuer = await makeCa({ commonName: 'other', validForMs: hour });
  const app = await issueCertificate({ commonName: '', issuer, validForMs: hour });
  const setup = await start((folder) => `{ fs: { path: ${join(folder, 'keys')} } }`, app);
  try {
    const line = await setup.server.untilLogged('waiting for the key service');
    expect(line).toMatch(/no trusted authority issued the client certificate/);
    expect(line).not.toMatch(/socket hang up|cannot be reached/);
  } finally {
    await setup.stop();
  }
}, 180_000);
