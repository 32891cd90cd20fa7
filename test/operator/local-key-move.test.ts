import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startLocal, type LocalOperator } from '../../operator/runtime/local/start-local.ts';
import { freePort } from '../support/process/free-port.ts';
import { localPrograms, tenantSettings } from '../support/process/program.ts';
import { s3Client } from '../support/server/s3-client.ts';

// A tenant that moves to another key service, by the local runtime with real programs.

let folder: string;
let operator: LocalOperator;
let s3: string;
const problems: string[] = [];

const write = (kind: string, name: string, spec: object, annotations: object = {}) =>
  writeFileSync(
    join(folder, 'manifests', `${name}.yaml`),
    stringify({ apiVersion: 'coffer.dev/v1alpha1', kind, metadata: { name, annotations }, spec }),
  );
const keyFiles = (name: string) => join(folder, `keys-of-${name}`);
const condition = (type: string) =>
  operator.status({ kind: 'Tenant', name: 'demo' })?.conditions.find((one) => one.type === type);
const untilReady = () =>
  expect
    .poll(() => condition('Ready'), { timeout: 180_000, message: problems.join() })
    .toMatchObject({ status: 'True', reason: 'Ready' });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coffer-key-move-'));
  mkdirSync(join(folder, 'manifests'));
  for (const [name, defaultKey] of [
    ['old', 'main'],
    ['new', 'spare'],
  ] as const) {
    const files = { path: keyFiles(name) };
    write('KMSConfig', name, { address: { port: await freePort() }, keystore: { files }, defaultKey });
  }
  const [port, consolePort] = [await freePort(), await freePort()];
  s3 = `http://127.0.0.1:${port}`;
  useKeyServiceOf('old', { s3: { port }, console: { port: consolePort } });
  operator = await startLocal({
    manifests: join(folder, 'manifests'),
    state: join(folder, 'state'),
    programs: localPrograms(),
    environment: { SVC_ROOT_USER: 'root', SVC_ROOT_PASSWORD: 'root-password' },
    event: () => undefined,
    issue: (message) => problems.push(message),
    childLine: () => undefined,
  });
});
afterAll(async () => {
  await operator?.stop();
  rmSync(folder, { recursive: true, force: true });
});

let addresses: object;
function useKeyServiceOf(name: string, at: object = addresses, annotations: object = {}): void {
  addresses = at;
  write(
    'Tenant',
    'demo',
    { addresses, kmsConfigRef: { name, defaultKey: 'main' }, settings: tenantSettings },
    annotations,
  );
}

it('waits until the other key service holds its keys, and reads its objects there', { timeout: 540_000 }, async () => {
  await untilReady();
  const credentials = { s3, accessKey: 'root', secretKey: 'root-password' };
  const client = s3Client(credentials);
  await client.send(new CreateBucketCommand({ Bucket: 'sealed' }));
  const object = { Bucket: 'sealed', Key: 'object' };
  await client.send(new PutObjectCommand({ ...object, Body: 'content', ServerSideEncryption: 'aws:kms' }));

  useKeyServiceOf('new');
  await expect
    .poll(() => condition('Stalled'), { timeout: 180_000 })
    .toMatchObject({
      reason: 'KeysNotProven',
      message: expect.stringContaining('it lacks main') as string,
    });

  // The mark says which folder it is, so that it stays.
  const keys = readdirSync(keyFiles('old')).filter((file) => !file.startsWith('.'));
  for (const file of keys) cpSync(join(keyFiles('old'), file), join(keyFiles('new'), file));
  useKeyServiceOf('new', addresses, { again: 'now' });
  await expect.poll(() => condition('Stalled'), { timeout: 180_000 }).toBeUndefined();
  await untilReady();
  const read = await client.send(new GetObjectCommand(object));
  expect(await read.Body?.transformToString()).toBe('content');
});
