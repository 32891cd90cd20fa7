import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { ResourceRef } from '../../operator/contract/workload.ts';
import { startLocal, type LocalOperator } from '../../operator/runtime/local/start-local.ts';
import { freePort } from '../support/process/free-port.ts';
import { localPrograms, tenantSettings } from '../support/process/program.ts';
import { s3Client } from '../support/server/s3-client.ts';

// A tenant whose server comes back with another store, by the local runtime with real programs.

const demo = { kind: 'Tenant', name: 'demo' } as const;
const photos = { kind: 'Bucket', name: 'photos' } as const;

let folder: string;
let operator: LocalOperator;
let addresses: { readonly s3: { readonly port: number }; readonly console: { readonly port: number } };
const problems: string[] = [];

const write = (kind: string, name: string, spec: object, annotations: object = {}) =>
  writeFileSync(
    join(folder, 'manifests', `${name}.yaml`),
    stringify({ apiVersion: 'coffer.dev/v1alpha1', kind, metadata: { name, annotations }, spec }),
  );
const useFolder = (name: string, annotations: object = {}) =>
  write('Tenant', 'demo', { addresses, storage: { path: join(folder, name) }, settings: tenantSettings }, annotations);
const condition = (ref: ResourceRef, type: string) => operator.status(ref)?.conditions.find((one) => one.type === type);
const untilReady = (ref: ResourceRef) =>
  expect
    .poll(() => condition(ref, 'Ready'), { timeout: 180_000, message: problems.join() })
    .toMatchObject({ status: 'True', reason: 'Ready' });
const buckets = async () => {
  const client = s3Client({
    s3: `http://127.0.0.1:${addresses.s3.port}`,
    accessKey: 'root',
    secretKey: 'root-password',
  });
  return (await client.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name) ?? [];
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coffer-lost-store-'));
  mkdirSync(join(folder, 'manifests'));
  addresses = { s3: { port: await freePort() }, console: { port: await freePort() } };
  useFolder('first');
  write('Bucket', 'photos', { tenantRef: { name: 'demo' } });
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

it('takes no other store for its own, until its ID is accepted', { timeout: 720_000 }, async () => {
  await untilReady(demo);
  await untilReady(photos);
  await expect.poll(() => operator.status(demo)?.deployment, { timeout: 90_000 }).toBeTypeOf('string');
  const first = operator.status(demo)?.deployment;

  useFolder('second');
  await expect
    .poll(() => condition(demo, 'Ready'), { timeout: 180_000 })
    .toMatchObject({ status: 'False', reason: 'StoreReplaced' });
  expect(existsSync(join(folder, 'second'))).toBe(true);
  expect(operator.status(demo)?.deployment).toBe(first);
  // The server refuses the store by itself: nothing is written that would be lost with the mistake.
  await expect(buckets()).rejects.toThrow();

  useFolder('first');
  await untilReady(demo);
  expect(await buckets()).toEqual(['photos']);

  useFolder('second');
  await expect.poll(() => condition(demo, 'Ready')?.reason, { timeout: 180_000 }).toBe('StoreReplaced');
  const id = /accept-store=(\S+)$/.exec(condition(demo, 'Ready')?.message ?? '')?.[1];
  useFolder('second', { 'coffer.dev/accept-store': id });
  await untilReady(demo);
  await expect.poll(buckets, { timeout: 180_000 }).toEqual(['photos']);
});
