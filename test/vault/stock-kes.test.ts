import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { makeCa } from '../../platform/tls/issue-certificate.ts';
import { codeOfAnswer } from '../../protocol/key-service/errors.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { freePort } from '../support/process/free-port.ts';
import { issue, startKeysvc, writePair, type KeysvcProcess } from '../support/server/keysvc-process.ts';
import { askBy, startKes, type Answer, type StockKes } from './start-kes.ts';

/** One configuration and one folder of keys, given to stock KES and to `keysvc`, which answer the same calls. */
let folder: string;
let ca: CertificateAndKey;
let client: CertificateAndKey;
let kes: StockKes;
let keysvc: KeysvcProcess;
let ports: { readonly kes: number; readonly keysvc: number };

const configurationOf = async (name: string, port: number, files: Awaited<ReturnType<typeof writePair>>) => {
  const file = join(folder, `${name}.yml`);
  await writeFile(
    file,
    `
version: v1
address: 127.0.0.1:${port}
admin:
  identity: \${ ADMIN_IDENTITY }
tls:
  key: ${files.keyFile}
  cert: ${files.certFile}
  password: ""
  auth: "OFF"
  ca: ""
  proxy:
    identities: []
    header:
      cert: X-Tls-Client-Cert
api:
  /v1/ready:
    skip_auth: false
    timeout: 15s
  /v1/key/create/:
    timeout: 10s
policy:
  app:
    allow:
    - /v1/key/create/*
    - /v1/key/generate/*
    - /v1/key/decrypt/*
    - /v1/key/describe/*
    - /v1/key/delete/*
    - /v1/key/list/*
    - /v1/status
    - /v1/metrics
    deny:
    - /v1/key/generate/secret*
    identities:
    - \${ APP_IDENTITY }
  unused:
cache:
  expiry:
    any: 5m0s
    unused: 20s
    offline: 0s
log:
  error: WARN
  audit: "off"
keys:
- name: 2024
- name: shared
keystore:
  fs:
    path: ${join(folder, `${name}-keys`)}
`,
  );
  return file;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-stock-kes-'));
  ca = await makeCa({ commonName: 'test', validForMs: 3_600_000 });
  client = await issue(ca, 'app');
  const admin = await issue(ca, 'admin');
  const files = await writePair(folder, 'server', await issue(ca, 'server'));
  ports = { kes: await freePort(), keysvc: await freePort() };
  const environment = {
    APP_IDENTITY: identityOfCertificate(client.certPem),
    ADMIN_IDENTITY: identityOfCertificate(admin.certPem),
  };
  const stock = await configurationOf('kes', ports.kes, files);
  const own = await configurationOf('keysvc', ports.keysvc, files);
  await mkdir(join(folder, 'kes-keys'));
  kes = await startKes({ config: stock, port: ports.kes, folder, environment });
  for (const name of ['2024', 'shared']) await ask(ports.kes, 'PUT', `/v1/key/create/${name}`);
  // `keysvc` takes the folder over as it is.
  await cp(join(folder, 'kes-keys'), join(folder, 'keysvc-keys'), { recursive: true });
  keysvc = await startKeysvc(['--config', own], environment);
}, 180_000);
afterAll(async () => {
  await keysvc?.stop();
  await kes?.stop();
  await rm(folder, { recursive: true, force: true });
});

function ask(port: number, method: string, path: string, body?: string): Promise<Answer> {
  return askBy({ ca, client }, port, [method, path, body]);
}

/** Asks both, with a body for each that the answers of it before may fill. */
async function both(method: string, path: string, body?: object | string) {
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  return {
    kes: await ask(ports.kes, method, path, text),
    keysvc: await ask(ports.keysvc, method, path, text),
  };
}

const context = Buffer.from('{"bucket":"b"}').toString('base64');
const data = Buffer.alloc(32, 7).toString('base64');
const broken = `${data.slice(0, 20)}\n${data.slice(20)}`;

describe('stock KES and the key service with the same files', () => {
  it('have the same keys in their folders', async () => {
    expect((await readdir(join(folder, 'keysvc-keys'))).filter((name) => !name.startsWith('.')).toSorted()).toEqual([
      '2024',
      'shared',
    ]);
  });

  it.each<[string, string, string, (object | string)?]>([
    ['the version', 'GET', '/version'],
    ['readiness', 'GET', '/v1/ready'],
    ['the status', 'GET', '/v1/status'],
    ['the calls', 'GET', '/v1/api'],
    ['a new key', 'POST', '/v1/key/create/one'],
    ['a key that exists', 'POST', '/v1/key/create/one'],
    ['a data key', 'POST', '/v1/key/generate/shared', {}],
    ['a data key with a context', 'POST', '/v1/key/generate/shared', { context }],
    ['a data key with a context of null', 'POST', '/v1/key/generate/shared', { context: null }],
    ['a data key with a context in two lines', 'POST', '/v1/key/generate/shared', { context: broken }],
    ['a data key of no key', 'POST', '/v1/key/generate/none', {}],
    ['a data key that a policy denies', 'POST', '/v1/key/generate/secret-one', {}],
    ['a call that no policy allows', 'POST', '/v1/key/import/two', { bytes: data }],
    ['a ciphertext that is none', 'POST', '/v1/key/decrypt/shared', { ciphertext: data, context }],
    ['a description', 'GET', '/v1/key/describe/shared'],
    ['a description of no key', 'GET', '/v1/key/describe/none'],
    ['a list', 'GET', '/v1/key/list/*'],
    ['a removal', 'DELETE', '/v1/key/delete/one'],
    ['a removal of no key', 'DELETE', '/v1/key/delete/none'],
  ])('answer %s alike', async (_, method, path, body) => {
    const { kes: stock, keysvc: own } = await both(method, path, body);
    expect([own.status, own.status < 400 ? '' : own.body['message']]).toEqual([
      stock.status,
      stock.status < 400 ? '' : stock.body['message'],
    ]);
  });

  it('differ in the words for a name that is none, and in who a caller is', async () => {
    // The words of the releases of 2023, which the clients of that time compare.
    const name = await both('POST', '/v1/key/create/a.b');
    expect([name.kes.status, name.keysvc]).toMatchObject([
      400,
      { status: 400, body: { message: expect.stringMatching(/^invalid argument: /) as string } },
    ]);
    expect(codeOfAnswer(400, String(name.kes.body['message']))).toBe('invalid-request');
    const self = await both('GET', '/v1/identity/self/describe');
    expect([self.kes.status, self.keysvc.status]).toEqual([404, 200]);
  });

  it.each([{}, { context }])('open what the other has sealed: %j', async (sealed) => {
    const made = await both('POST', '/v1/key/generate/shared', sealed);
    const ofStock = { ciphertext: made.kes.body['ciphertext'], ...sealed };
    const ofOwn = { ciphertext: made.keysvc.body['ciphertext'], ...sealed };
    const opened = await ask(ports.keysvc, 'POST', '/v1/key/decrypt/shared', JSON.stringify(ofStock));
    expect(opened).toMatchObject({ status: 200, body: { plaintext: made.kes.body['plaintext'] } });
    const back = await ask(ports.kes, 'POST', '/v1/key/decrypt/shared', JSON.stringify(ofOwn));
    expect(back).toMatchObject({ status: 200, body: { plaintext: made.keysvc.body['plaintext'] } });
  });
});
