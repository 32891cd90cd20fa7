import { afterEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../operator/kube-client/kube-api.ts';
import { keyService, sharedStore, tenantOfSeveral } from '../support/operator/manifests.ts';
import { statusOf } from '../support/operator/read-cluster.ts';
import { Stage } from '../support/operator/stage.ts';
import { watchDisruptions } from '../support/operator/watch-disruptions.ts';

const demo = { kind: 'Tenant', name: 'demo' } as const;
const keys = { kind: 'KMSConfig', name: 'keys' } as const;
const certificateTimes = { authorityLifeMs: 3_600_000, leafLifeMs: 12_000, spreadMs: 500, graceMs: 1_000 };

let stage: Stage;

afterEach(async () => {
  expect(await stage.strike()).toEqual([]);
});

function certificates(): ReadonlyMap<string, unknown> {
  const made = stage.double
    .list('secrets')
    .filter(({ metadata }: KubeObject) => metadata.labels?.['coffer.dev/certificate'] !== undefined);
  return new Map(made.map(({ metadata, data }) => [metadata.name, (data as { 'tls.crt': string })['tls.crt']]));
}

describe('certificates', () => {
  it('are renewed before their end, and reach pods without a restart (complaints 7, 8)', async () => {
    stage = await Stage.set(sharedStore(), {}, { certificateTimes });
    const spec = { kmsConfigRef: { name: 'keys' }, tls: { operatorMade: true } };
    await stage.settle(keyService('keys'), tenantOfSeveral('demo', 2, spec));
    const disruptions = watchDisruptions(stage.double);
    const before = certificates();
    expect([...before.keys()]).toHaveLength(3);
    const isRenewed = (): boolean => [...certificates()].every(([name, pem]) => before.get(name) !== pem);
    await stage.until(isRenewed, 'all are renewed');
    const mounted = (): string => JSON.stringify(stage.double.get('secrets', 'default', 'demo-server-reloading-files'));
    const isMounted = (): boolean =>
      [...certificates()].every(([name, pem]) => !name.startsWith('demo') || mounted().includes(String(pem)));
    await stage.until(isMounted, 'the pods of the tenant have them');
    await stage.current(keys, demo);
    expect(disruptions.deleted).toEqual([]);
  }, 180_000);

  it('tell their end in the status', async () => {
    stage = await Stage.set(sharedStore());
    await stage.settle(tenantOfSeveral('demo', 2, { tls: { operatorMade: true } }));
    expect(statusOf(stage.double, demo).certificates?.map(({ name }) => name)).toEqual(['demo-server-tls']);
  });
});
