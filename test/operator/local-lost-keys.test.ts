import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { ResourceRef } from '../../operator/contract/workload.ts';
import { startLocal, type LocalOperator } from '../../operator/runtime/local/start-local.ts';
import { freePort } from '../support/process/free-port.ts';
import { localPrograms, tenantSettings } from '../support/process/program.ts';
import { s3Client } from '../support/server/s3-client.ts';

// A keystore that is exchanged below a running tenant, by the local runtime with real programs.

const demo = { kind: 'Tenant', name: 'demo' } as const;
const keys = { kind: 'KMSConfig', name: 'keys' } as const;

let folder: string;
let operator: LocalOperator;
let s3: string;
let port: number;
const problems: string[] = [];

const write = (kind: string, name: string, spec: object) =>
  writeFileSync(
    join(folder, 'manifests', `${name}.yaml`),
    stringify({ apiVersion: 'coffer.dev/v1alpha1', kind, metadata: { name }, spec }),
  );
const useFolder = (name: string) =>
  write('KMSConfig', 'keys', {
    address: { port },
    keystore: { files: { path: join(folder, name) } },
    defaultKey: 'main',
  });
const condition = (ref: ResourceRef, type: string) => operator.status(ref)?.conditions.find((one) => one.type === type);
const untilReady = (ref: ResourceRef) =>
  expect
    .poll(() => condition(ref, 'Ready'), { timeout: 180_000, message: problems.join() })
    .toMatchObject({ status: 'True', reason: 'Ready' });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coffer-lost-keys-'));
  mkdirSync(join(folder, 'manifests'));
  port = await freePort();
  const [s3Port, consolePort] = [await freePort(), await freePort()];
  s3 = `http://127.0.0.1:${s3Port}`;
  useFolder('first');
  write('Tenant', 'demo', {
    addresses: { s3: { port: s3Port }, console: { port: consolePort } },
    kmsConfigRef: { name: 'keys' },
    settings: tenantSettings,
  });
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

it('makes no key anew in an exchanged keystore, and goes on with the right one', { timeout: 720_000 }, async () => {
  await untilReady(demo);
  const client = s3Client({ s3, accessKey: 'root', secretKey: 'root-password' });
  await client.send(new CreateBucketCommand({ Bucket: 'sealed' }));
  const object = { Bucket: 'sealed', Key: 'object' };
  await client.send(new PutObjectCommand({ ...object, Body: 'content', ServerSideEncryption: 'aws:kms' }));
  await expect
    .poll(() => operator.status(demo)?.keys, { timeout: 180_000 })
    .toMatchObject([{ key: 'main', canaries: [{ ciphertext: expect.any(String) as string }] }]);
  await untilReady(keys);

  mkdirSync(join(folder, 'second'));
  useFolder('second');
  await expect
    .poll(() => condition(keys, 'Stalled'), { timeout: 180_000 })
    .toMatchObject({
      status: 'True',
      reason: 'KeystoreNotProven',
      message: expect.stringMatching(
        /the key "main", which the key store does not have.*put spec.keystore back/,
      ) as string,
    });
  expect(readdirSync(join(folder, 'second')).filter((name) => !name.startsWith('.'))).toEqual([]);
  // The key service was not touched.
  await client.send(
    new PutObjectCommand({ Bucket: 'sealed', Key: 'meanwhile', Body: 'x', ServerSideEncryption: 'aws:kms' }),
  );
  expect(condition(demo, 'Ready')).toMatchObject({ status: 'True' });

  useFolder('first');
  await untilReady(keys);
  await client.send(
    new PutObjectCommand({ Bucket: 'sealed', Key: 'later', Body: 'x', ServerSideEncryption: 'aws:kms' }),
  );
  const read = await client.send(new GetObjectCommand(object));
  expect(await read.Body?.transformToString()).toBe('content');
});
