import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startLocal, type LocalOperator } from '../../operator/runtime/local/start-local.ts';
import type { ResourceKind } from '../../operator/contract/workload.ts';
import { freePort } from '../support/process/free-port.ts';
import { localPrograms, tenantSettings } from '../support/process/program.ts';
import { s3Client } from '../support/server/s3-client.ts';

// Resources of identities and the rotation of root credentials, by the local runtime with real servers.

let folder: string;
let operator: LocalOperator;
let s3: string;
const problems: string[] = [];
const patienceMs = 60_000;

const write = (name: string, ...manifests: readonly object[]) =>
  writeFileSync(join(folder, 'manifests', `${name}.yaml`), manifests.map((one) => stringify(one)).join('---\n'));
const remove = (name: string) => rmSync(join(folder, 'manifests', `${name}.yaml`));
const resource = (kind: ResourceKind, name: string, spec: object) => ({
  apiVersion: 'coffer.dev/v1alpha1',
  kind,
  metadata: { name },
  spec: kind === 'Tenant' ? spec : { tenantRef: { name: 'demo' }, ...spec },
});
const root = (rootUser: string, rootPassword: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'root' },
  stringData: { rootUser, rootPassword },
});

async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + patienceMs; ; await sleep(50)) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`${what}: not within ${patienceMs} ms; ${problems.join('; ')}`);
  }
}
const untilReason = (kind: ResourceKind, name: string, wanted: string) =>
  until(`${kind} ${name} ${wanted}`, () => {
    const ready = operator.status({ kind, name })?.conditions.find(({ type }) => type === 'Ready');
    return ready !== undefined && `${ready.status} ${ready.reason}` === wanted ? ready : undefined;
  });
const clientOf = (accessKey: string, secretKey: string) => s3Client({ s3, accessKey, secretKey });
const lists = (accessKey: string, secretKey: string) =>
  clientOf(accessKey, secretKey)
    .send(new ListBucketsCommand({}))
    .then(
      () => 'listed',
      (error: Error) => error.name,
    );
const kept = (secret: string, key: string) => {
  const path = join(folder, 'state', 'secrets', secret, key);
  return { value: readFileSync(path, 'utf8').trim(), mode: statSync(path).mode & 0o777 };
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coffer-identities-'));
  mkdirSync(join(folder, 'manifests'));
  const [port, consolePort] = [await freePort(), await freePort()];
  s3 = `http://127.0.0.1:${port}`;
  const addresses = { s3: { port }, console: { port: consolePort } };
  write('root', root('admin', 'first-password'));
  write(
    'tenant',
    resource('Tenant', 'demo', { addresses, rootCredentialsSecret: { name: 'root' }, settings: tenantSettings }),
  );
  operator = await startLocal({
    manifests: join(folder, 'manifests'),
    state: join(folder, 'state'),
    programs: localPrograms(),
    environment: {},
    event: () => undefined,
    issue: (message) => problems.push(message),
    childLine: () => undefined,
  });
  await untilReason('Tenant', 'demo', 'True Ready');
});
afterAll(async () => {
  await operator.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('identities as manifests', () => {
  it('wait for each other, in whatever order they come, and say for whom', async () => {
    write('binding', resource('PolicyBinding', 'ann-lists', { policies: ['listing'], subjects: [{ user: 'ann' }] }));
    expect((await untilReason('PolicyBinding', 'ann-lists', 'False UserNotFound')).message).toContain('"ann"');
    write('user', resource('User', 'ann', {}));
    await untilReason('User', 'ann', 'True Ready');
    expect((await untilReason('PolicyBinding', 'ann-lists', 'False PolicyNotFound')).message).toContain('"listing"');
    const { value: secretKey, mode } = kept('ann-credentials', 'secretKey');
    expect(mode).toBe(0o600);
    expect(await lists('ann', secretKey)).toBe('AccessDenied');
    const Statement = [{ Effect: 'Allow', Action: ['s3:ListAllMyBuckets'], Resource: 'arn:aws:s3:::*' }];
    write('policy', resource('Policy', 'listing', { document: { Version: '2012-10-17', Statement } }));
    await untilReason('PolicyBinding', 'ann-lists', 'True Ready');
    expect(await lists('ann', secretKey)).toBe('listed');
    expect(kept('ann-credentials', 'AWS_SECRET_ACCESS_KEY').value).toBe(secretKey);
  });

  it('are taken away with their manifests', async () => {
    const { value: secretKey } = kept('ann-credentials', 'secretKey');
    remove('binding');
    await until('the binding to be gone', async () =>
      (await lists('ann', secretKey)) === 'listed' ? undefined : true,
    );
    remove('user');
    await until('the user to be gone', async () =>
      (await lists('ann', secretKey)) === 'InvalidAccessKeyId' ? true : undefined,
    );
    await until('its status to be gone', () => (operator.status({ kind: 'User', name: 'ann' }) ? undefined : true));
  });
});

describe('the root credentials of a tenant', () => {
  it('are rotated without locking the operator out: what it declares goes on, and the old ones end', async () => {
    expect(await lists('admin', 'first-password')).toBe('listed');
    write('root', root('admin', 'second-password'));
    await until('the new password', async () =>
      (await lists('admin', 'second-password')) === 'listed' ? true : undefined,
    );
    // A server that has the new ones takes the former ones too, for calls that are under way.
    expect(await lists('admin', 'first-password')).toBe('listed');
    write('after', resource('User', 'after', {}));
    await untilReason('User', 'after', 'True Ready');
    // What the operator does a minute later, without that minute.
    const path = join(folder, 'state', 'workloads', 'demo-server', 'root', 'former');
    expect(readFileSync(path, 'utf8')).toBe('admin\nfirst-password');
    await until('the end of the former password', async () => {
      // A pass of the operator may write it again, since the minute is not over.
      writeFileSync(path, '');
      return (await lists('admin', 'first-password')) === 'SignatureDoesNotMatch' ? true : undefined;
    });
    expect(await lists('admin', 'second-password')).toBe('listed');
  });
});
