import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { makeCa } from '../../platform/tls/issue-certificate.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { freePort } from '../support/process/free-port.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { issue, startKeysvc, writePair, type KeysvcProcess } from '../support/server/keysvc-process.ts';

const Bucket = 'sealed';
let folder: string;
let settings: Record<string, string>;
let server: RunningServer;
let keysvc: KeysvcProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-lifecycle-'));
  const port = await freePort();
  const ca = await makeCa({ commonName: 'test', validForMs: 3_600_000 });
  const caFile = join(folder, 'ca.crt');
  await writeFile(caFile, ca.certPem);
  const app = await issue(ca, 'app');
  const appFiles = await writePair(folder, 'app', app);
  const keysFiles = await writePair(folder, 'keys', await issue(ca, 'keys'));
  const config = join(folder, 'keysvc.yaml');
  await writeFile(
    config,
    `
address: 127.0.0.1:${port}
root: disabled
tls: { key: ${keysFiles.keyFile}, cert: ${keysFiles.certFile}, ca: ${caFile} }
policy:
  app:
    allow: [/v1/key/create/*, /v1/key/import/*, /v1/key/delete/*, /v1/key/rotate/*, /v1/key/generate/*, /v1/key/decrypt/*, /v1/key/list/*]
    identities: [${identityOfCertificate(app.certPem)}]
keys: [{ name: main-key }]
keystore: { fs: { path: ${join(folder, 'key-files')} } }
`,
  );
  keysvc = await startKeysvc(['--config', config]);
  settings = {
    SVC_KMS_KEYSVC_ENDPOINT: `https://127.0.0.1:${port}`,
    SVC_KMS_KEYSVC_KEY_NAME: 'main-key',
    SVC_KMS_KEYSVC_CERT_FILE: appFiles.certFile,
    SVC_KMS_KEYSVC_KEY_FILE: appFiles.keyFile,
    SVC_KMS_KEYSVC_CAPATH: caFile,
  };
  server = await startServer({ env: settings, folder: join(folder, 'data') });
  await untilReady(server);
  await s3Client(server).send(new CreateBucketCommand({ Bucket }));
});
afterAll(async () => {
  await server.stop();
  await keysvc.stop();
  await rm(folder, { recursive: true, force: true });
});

const call = (method: string, target: string, sent?: Buffer) =>
  adminCall(server.s3, { accessKey: server.accessKey, secretKey: server.secretKey }, method, target, sent);
const kms = '/minio/kms/v1/key';
const rotation = '/minio/admin/coffer/v1/kms/key/rotate';
const put = (Key: string, SSEKMSKeyId: string) =>
  s3Client(server).send(
    new PutObjectCommand({ Bucket, Key, Body: `of ${Key}`, ServerSideEncryption: 'aws:kms', SSEKMSKeyId }),
  );

it('makes, imports and lists keys at the key service', async () => {
  const bytes = Buffer.from(JSON.stringify({ bytes: randomBytes(32).toString('base64') }));
  expect(await call('POST', `${kms}/create?key-id=first`)).toMatchObject({ status: 200 });
  expect(await call('POST', `${kms}/import?key-id=second`, bytes)).toMatchObject({ status: 200 });
  expect(await call('POST', `${kms}/import?key-id=second`, bytes)).toMatchObject({ status: 409 });
  expect(await call('GET', `${kms}/list?pattern=*`)).toMatchObject({
    value: [{ name: 'first' }, { name: 'main-key' }, { name: 'second' }],
  });
});

it('gives objects another key, and then removes the one that nothing uses any more', { timeout: 360_000 }, async () => {
  await put('object', 'first');
  expect(await call('DELETE', `${kms}/delete?key-id=first`)).toMatchObject({ status: 409 });
  expect(await call('POST', `${rotation}?key-id=first&to=second`)).toMatchObject({ status: 200 });
  const finished = async () => {
    const { value } = await call('GET', rotation);
    return (value as { rotation: { finished?: number } }).rotation.finished !== undefined;
  };
  while (!(await finished())) await sleep(100);
  expect(await call('DELETE', `${kms}/delete?key-id=first`)).toMatchObject({ status: 200, value: { lost: null } });
  const { Body, SSEKMSKeyId } = await s3Client(server).send(new GetObjectCommand({ Bucket, Key: 'object' }));
  expect([await Body?.transformToString(), SSEKMSKeyId]).toEqual(['of object', 'arn:aws:kms:second']);
});

it('gives a key a new version, and its objects that; what was written before and after is read by a server that starts anew', async () => {
  const read = async (Key: string) => (await s3Client(server).send(new GetObjectCommand({ Bucket, Key }))).Body;
  await put('rotated', 'second');
  const { value } = await call('POST', `${rotation}?key-id=second`);
  expect(value).toMatchObject({ from: 'second', to: 'second', version: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(await readdir(join(folder, 'key-files'))).toContain('second--2');
  const state = async () => (await call('GET', rotation)).value as { rotation: { againAfter?: number; done: number } };
  // The second pass, for what was written under data keys in memory, comes minutes later.
  while ((await state()).rotation.againAfter === undefined) await sleep(100);
  expect(await state()).toMatchObject({ rotation: { done: 2, failed: 0 } });
  await put('after', 'second');
  await server.kill();
  server = await startServer({ env: settings, folder: server.folder });
  await untilReady(server);
  await put('restarted', 'second');
  for (const Key of ['object', 'rotated', 'after', 'restarted']) {
    expect(await (await read(Key))?.transformToString()).toBe(`of ${Key}`);
  }
  expect(await call('POST', `${rotation}?key-id=second`)).toMatchObject({
    status: 409,
    value: { Message: expect.stringMatching(/a second pass begins at/) },
  });
}, 360_000);

it('encrypts nothing with a key that was removed, whichever thread is asked', async () => {
  for (let at = 0; at < 8; at += 1) {
    expect(await refusal(put(`late-${at}`, 'first'))).toMatchObject({ code: 'KMS.NotFoundException' });
  }
  await s3Client(server).send(new DeleteObjectCommand({ Bucket, Key: 'object' }));
  expect(await call('DELETE', `${kms}/delete?key-id=main-key&force=main-key`)).toMatchObject({ status: 409 });
});
