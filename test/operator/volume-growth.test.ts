import { afterEach, beforeEach, expect, it } from 'vitest';
import { keyService, tenant } from '../support/operator/manifests.ts';
import { condition } from '../support/operator/read-cluster.ts';
import { Stage } from '../support/operator/stage.ts';

// A volume that should grow, and cannot.

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.set();
});
afterEach(async () => {
  expect(await stage.strike()).toEqual([]);
});

const sized = {
  Tenant: (size: string) => tenant('demo', { storage: { size } }),
  KMSConfig: (size: string) => keyService('demo', { keystore: { files: { size } } }),
} as const;

it.each(['Tenant', 'KMSConfig'] as const)('a growth that its StorageClass refuses is taken back (%s)', async (kind) => {
  const demo = { kind, name: 'demo', namespace: 'default' } as const;
  await stage.settle(sized[kind]('1Gi'));
  stage.double.faults.plan(
    Infinity,
    ({ verb, resource }) => verb === 'patch' && resource === 'persistentvolumeclaims',
    { kind: 'status', status: 403, reason: 'Forbidden' },
  );
  stage.put(sized[kind]('2Gi'));
  await stage.says(demo, 'Stalled', 'VolumeNotGrown');
  expect(condition(stage.double, demo, 'Stalled')?.message).toMatch(
    /has 1Gi, and 2Gi was asked: .*or set the size back/,
  );
  await stage.settle(sized[kind]('1Gi'));
  expect(condition(stage.double, demo, 'VolumeResizing')).toBeUndefined();
});

it('a volume never shrinks, and its resource says so', async () => {
  const demo = { kind: 'Tenant', name: 'demo', namespace: 'default' } as const;
  await stage.settle(sized.Tenant('2Gi'));
  stage.put(sized.Tenant('1Gi'));
  await stage.says(demo, 'VolumeResizing', 'CannotShrink', 'False');
  await stage.current(demo);
});
