import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, ListBucketsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nextDeployment, type ExpectedDeployment, type StoreTenant } from '../../protocol/expected-deployment.ts';
import { readOtherStore } from '../../protocol/waits-for.ts';
import { storeTool } from '../store-tool/run-store-tool.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { postgresBinaries, type TestDatabase } from '../support/server/postgres.ts';
import { readinessOf, type RunningServer } from '../support/server/start-server.ts';
import { type Deployment, newDeployment } from './deployment.ts';

// Servers of two Tenants whose operators name one database. The Tenants have one name, as in two clusters.

const Bucket = 'of-the-first';
const timeout = 180_000;
const tenants = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'].map((uid) => ({
  name: 'demo',
  namespace: 'team',
  uid,
}));

let deployment: Deployment;
let folder: string;
beforeAll(async () => {
  [deployment, folder] = await Promise.all([newDeployment(), mkdtemp(join(tmpdir(), 'coffer-two-tenants-'))]);
}, 720_000);
afterAll(async () => {
  await deployment?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** What the operator of a Tenant gives to its servers, on the shared database or on the copy. */
const fileOf = ({ uid }: StoreTenant, place: Place = 'shared') => join(folder, `${place}-${uid}.json`);
type Place = 'shared' | 'copy' | 'restored' | 'dumped' | 'from-dump' | 'begun';
const write = (tenant: StoreTenant, more: ExpectedDeployment = {}, place?: Place) =>
  writeFile(fileOf(tenant, place), JSON.stringify({ ...more, tenant }));

const start = (tenant: StoreTenant) => deployment.start({ SVC_DEPLOYMENT_FILE: fileOf(tenant) }, 'until it listens');

/** Resolves with undefined for a server that is ready, and with the store that it refuses. */
async function settled(server: RunningServer) {
  let found: { readonly refused: ReturnType<typeof readOtherStore> } | undefined;
  await expect
    .poll(
      async () => {
        const [status, waitsFor] = (await readinessOf(server)).split(' ');
        const refused = readOtherStore(waitsFor ?? '');
        found = status === '200' || refused !== undefined ? { refused } : undefined;
        return found !== undefined || server.log.slice(-3);
      },
      { timeout },
    )
    .toBe(true);
  return found?.refused;
}

const untilServes = (server: RunningServer) => expect.poll(() => settled(server), { timeout }).toBeUndefined();

const bucketsOf = async (server: RunningServer) =>
  ((await s3Client(server).send(new ListBucketsCommand({}))).Buckets ?? []).map(({ Name }) => Name);

describe('two Tenants that begin on one new database at once', () => {
  let servers: readonly { readonly tenant: StoreTenant; readonly server: RunningServer }[];
  let first: StoreTenant;
  let second: StoreTenant;
  let store: string;
  const of = (tenant: StoreTenant) => servers.filter((each) => each.tenant === tenant).map(({ server }) => server);

  it('are one that has it, and one whose servers all refuse it and name both', { timeout: 720_000 }, async () => {
    await Promise.all(tenants.map((tenant) => write(tenant)));
    servers = await Promise.all(
      [...tenants, ...tenants].map(async (tenant) => ({ tenant, server: await start(tenant) })),
    );
    const refused = await Promise.all(servers.map(({ server }) => settled(server)));
    const winner = servers[refused.indexOf(undefined)]?.tenant;
    first = winner ?? expect.fail('no server is ready');
    second = tenants.find((tenant) => tenant !== first) ?? expect.fail('there are two');
    store = refused.find((each) => each !== undefined)?.store ?? expect.fail('no server refuses the store');
    expect(refused).toEqual(servers.map(({ tenant }) => (tenant === first ? undefined : { store, tenant: first.uid })));
    for (const server of of(second)) {
      const line = await server.untilLogged('which belongs to Tenant demo of namespace team');
      for (const { uid } of tenants) expect(line).toContain(uid);
    }
    const [server] = of(first);
    await s3Client(server as RunningServer).send(new CreateBucketCommand({ Bucket }));
  });

  it('are two where the second has a copy and accepts it', { timeout: 720_000 }, async () => {
    const copy = await deployment.postgres.createDatabase();
    const blobs = join(folder, 'copied');
    await mkdir(blobs);
    for (const server of of(first)) await server.stop();
    const places = storesOf(copy, blobs);
    await copyTo(places);
    const startOnCopy = (tenant: StoreTenant) =>
      deployment.start({ SVC_DEPLOYMENT_FILE: fileOf(tenant, 'copy'), ...places }, 'until it listens');
    await Promise.all(tenants.map((tenant) => write(tenant, {}, 'copy')));
    const server = await startOnCopy(second);
    expect(await settled(server)).toEqual({ store, tenant: first.uid });
    await write(second, { accepted: store }, 'copy');
    await untilServes(server);
    expect(await bucketsOf(server)).toEqual([Bucket]);
    // The copy is that of the second Tenant from now on: that needs no acceptance, and the first one does.
    await write(second, {}, 'copy');
    expect(await settled(await startOnCopy(second))).toBeUndefined();
    expect(await settled(await startOnCopy(first))).toEqual({ store, tenant: second.uid });
  });

  it('are one after the other where the second goes on in place of the first', { timeout: 720_000 }, async () => {
    const waiting = of(second);
    const last = await start(first);
    expect(await settled(last)).toBeUndefined();
    await write(second, { accepted: store });
    for (const server of waiting) expect(await server.untilLogged('serve it (')).toContain(new URL(last.s3).host);
    await last.stop();
    for (const server of waiting) {
      await untilServes(server);
      expect(await bucketsOf(server)).toEqual([Bucket]);
    }
    expect(await settled(await start(first))).toEqual({ store, tenant: second.uid });
    // Nothing proves that a Tenant that had the store before must not have it.
    await write(first, { expected: store });
    const again = await start(first);
    expect(await settled(again)).toBeUndefined();
    expect(await again.untilLogged('"event":"other-tenant"')).toContain(second.uid);
  });

  it('begin no other store beside an acceptance, and wait until it is restored', { timeout: 720_000 }, async () => {
    const blobs = join(folder, 'to-be-restored');
    await mkdir(blobs);
    const places = storesOf(await deployment.postgres.createDatabase(), blobs);
    await write(first, { accepted: store }, 'restored');
    const file = { SVC_DEPLOYMENT_FILE: fileOf(first, 'restored') };
    const before = await deployment.start({ ...file, ...places }, 'until it listens');
    expect(await settled(before)).toEqual({ store: nextDeployment(store), tenant: undefined });
    expect(await readdir(blobs)).toEqual([]);
    // A server that looks while the copy is half done ends.
    await before.stop();
    await copyTo(places);
    const after = await deployment.start({ ...file, ...places }, 'until it listens');
    await untilServes(after);
    expect(await bucketsOf(after)).toEqual([Bucket]);
  });
});

const storesOf = ({ url, password }: TestDatabase, blobs: string) => ({
  SVC_STORE_RECORDS: url,
  SVC_STORE_RECORDS_PASSWORD: password,
  SVC_STORE_BLOBS: `files:${blobs}`,
});

it(
  'a Tenant that accepted a store waits beside its bodies until its records are restored',
  { timeout: 720_000 },
  async () => {
    const [original, restored] = [
      await deployment.postgres.createDatabase(),
      await deployment.postgres.createDatabase(),
    ];
    const [from, to] = [join(folder, 'to-be-dumped'), join(folder, 'from-dump')];
    await mkdir(from);
    const [former, tenant] = tenants as [StoreTenant, StoreTenant];
    await write(former, {}, 'dumped');
    const begun = await deployment.start({
      SVC_DEPLOYMENT_FILE: fileOf(former, 'dumped'),
      ...storesOf(original, from),
    });
    await s3Client(begun).send(new CreateBucketCommand({ Bucket }));
    await begun.stop();
    const { deploymentId } = JSON.parse(await readFile(join(from, 'coffer-deployment.json'), 'utf8')) as {
      readonly deploymentId: string;
    };
    const dump = join(folder, 'dump');
    runPostgres('pg_dump', original, ['--format', 'custom', '--file', dump]);

    await cp(from, to, { recursive: true });
    await write(tenant, { accepted: deploymentId }, 'from-dump');
    const file = { SVC_DEPLOYMENT_FILE: fileOf(tenant, 'from-dump') };
    const server = await deployment.start({ ...file, ...storesOf(restored, to) }, 'until it listens');
    expect(await settled(server)).toEqual({ store: nextDeployment(deploymentId), tenant: undefined });
    runPostgres('pg_restore', restored, ['--single-transaction', '--no-owner', dump]);
    await untilServes(server);
    expect(await bucketsOf(server)).toEqual([Bucket]);
  },
);

it(
  'a Tenant that accepted a store begins another in an empty database once the acceptance is gone',
  { timeout: 720_000 },
  async () => {
    const database = await deployment.postgres.createDatabase();
    const blobs = join(folder, 'to-be-begun');
    await mkdir(blobs);
    const [tenant] = tenants as [StoreTenant];
    const accepted = randomUUID();
    await write(tenant, { accepted }, 'begun');
    const file = { SVC_DEPLOYMENT_FILE: fileOf(tenant, 'begun') };
    const server = await deployment.start({ ...file, ...storesOf(database, blobs) }, 'until it listens');
    expect(await settled(server)).toEqual({ store: nextDeployment(accepted), tenant: undefined });
    expect(await readdir(blobs)).toEqual([]);
    await write(tenant, {}, 'begun');
    await untilServes(server);
  },
);

/** Runs a program of PostgreSQL on a database. */
function runPostgres(program: string, { url, password }: TestDatabase, args: readonly string[]): void {
  execFileSync(join(postgresBinaries(), program), ['--dbname', url, ...args], {
    env: { ...process.env, PGPASSWORD: password },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

async function copyTo(places: Readonly<Record<string, string>>): Promise<void> {
  const files = ['from', 'to'].map((name) => join(folder, `${name}.env`));
  const [from = '', to = ''] = files;
  const stores = [storesOf(deployment.database, deployment.blobs), places];
  for (const [at, file] of files.entries()) {
    const lines = Object.entries(stores[at] ?? {}).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(file, lines.join(''), { mode: 0o600 });
  }
  for (const args of [
    ['read-only', 'on', from],
    ['copy', from, to],
    ['read-only', 'off', from],
  ]) {
    const { code, stdout, stderr } = await storeTool(args);
    expect(code, `${args.join(' ')}\n${stdout}${stderr}`).toBe(0);
  }
}
