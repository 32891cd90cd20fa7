import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubectl, Team } from '../support/cluster/team.ts';
import { startPostgresForPods, type PostgresForPods } from '../support/cluster/three-servers.ts';
import { until } from '../support/cluster/until.ts';

// Two Tenants in two namespaces on one database: one has it, and the other says whose it is.

const [one, two] = [new Team('team-database-one'), new Team('team-database-two')];
let postgres: PostgresForPods;

const tenant = (team: Team) =>
  team.server({
    identityProviders: [],
    kmsConfigRef: undefined,
    storage: { size: '1Gi', records: { postgres: { urlSecretRef: { name: 'database', key: 'url' } } } },
    resources: { requests: { cpu: '100m', memory: '128Mi' } },
  });
const database = (team: Team, url: string) =>
  team.object('v1', 'Secret', 'database', { type: 'coffer.dev/database', stringData: { url } });

const deployment = async (team: Team) => (await team.get('tenant', 'demo'))?.status?.['deployment'];
const untilRecorded = (team: Team) =>
  until(`the deployment of ${team.namespace}`, () => deployment(team), { otherwise: () => team.describe() });

async function remove(): Promise<void> {
  await kubectl.run(['delete', 'namespace', one.namespace, two.namespace, '--ignore-not-found', '--timeout=120s']);
}

beforeAll(async () => {
  postgres = await startPostgresForPods();
  for (const team of [one, two]) await team.createNamespace();
});
afterAll(async () => {
  await remove();
  await postgres?.remove();
});

describe('a Tenant on the database of a Tenant of another namespace', () => {
  it('waits, and says whose it is, while the first one goes on', async () => {
    const { url } = await postgres.createDatabase();
    await kubectl.apply(database(one, url), tenant(one));
    await one.untilSettled();
    const first = await untilRecorded(one);
    await one.createBucket('of-the-first');
    await kubectl.apply(database(two, url), tenant(two));
    const message = await two.untilStalled('tenant', 'demo', 'StoreOfAnother');
    expect(message).toContain(`Tenant demo of namespace ${one.namespace}`);
    expect(message).toContain(String(first));
    expect(await deployment(two)).toBeUndefined();
    await expect((await two.rootClient()).send(new ListBucketsCommand({}))).rejects.toThrow();
    const { Buckets = [] } = await (await one.rootClient()).send(new ListBucketsCommand({}));
    expect(Buckets.map(({ Name }) => Name)).toEqual(['of-the-first']);
  });

  it('starts on a database of its own', async () => {
    const { url } = await postgres.createDatabase();
    await kubectl.apply(database(two, url));
    await two.untilSettled();
    expect(await untilRecorded(two)).not.toBe(await deployment(one));
    expect((await (await two.rootClient()).send(new ListBucketsCommand({}))).Buckets ?? []).toEqual([]);
  });
});

describe('two Tenants that begin on one new database at once', () => {
  it('are one that has it, and one that says so', async () => {
    await remove();
    const { url } = await postgres.createDatabase();
    for (const team of [one, two]) await team.createNamespace();
    await kubectl.apply(database(one, url), database(two, url), tenant(one), tenant(two));
    const reasons = await until(
      'one of the two to be ready, and the other to say why not',
      async () => {
        const all = await Promise.all([one, two].map((team) => team.get('tenant', 'demo')));
        const found = all.map((each) => each?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason ?? '');
        return found.toSorted().join() === 'Ready,StoreOfAnother' ? found : undefined;
      },
      { timeoutMs: 240_000, otherwise: async () => `${await one.describe()}\n${await two.describe()}` },
    );
    const loser = reasons[0] === 'Ready' ? two : one;
    expect(await loser.untilStalled('tenant', 'demo', 'StoreOfAnother')).toContain('Tenant demo of namespace');
    expect(await deployment(loser)).toBeUndefined();
  });
});

describe('a Tenant that was deleted and made again on its database', () => {
  it('waits until it accepts the store, which has what it had', async () => {
    await remove();
    const { url } = await postgres.createDatabase();
    await one.createNamespace();
    await kubectl.apply(database(one, url), tenant(one));
    await one.untilSettled();
    const store = await untilRecorded(one);
    await one.createBucket('kept');
    await kubectl.run(['delete', 'tenants.coffer.dev', 'demo', '-n', one.namespace, '--timeout=120s']);
    await kubectl.apply(tenant(one));
    const message = await one.untilStalled('tenant', 'demo', 'StoreOfAnother');
    expect(message).toContain('one of another cluster, or a former one');
    expect(/accept-store=(\S+)$/.exec(message)?.[1]).toBe(store);
    const [, command = ''] = /kubectl (annotate .*)$/.exec(message) ?? [];
    await kubectl.run([...command.split(' '), '-n', one.namespace]);
    await one.untilSettled();
    const { Buckets = [] } = await (await one.rootClient()).send(new ListBucketsCommand({}));
    expect(Buckets.map(({ Name }) => Name)).toEqual(['kept']);
  });
});
