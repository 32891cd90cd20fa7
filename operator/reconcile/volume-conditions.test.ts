import { describe, expect, it } from 'vitest';
import type { ResizingVolume } from '../contract/runtime.ts';
import { mergeConditions, notReady, ready, stalled, type ConditionUpdate } from './conditions.ts';
import { kms, Namespace, tenant } from '../../test/support/operator/reconciler-harness.ts';
import { withVolumes } from './volume-conditions.ts';

const minute = 60_000;
const data = { claim: 'data-demo-server-0', has: '100Gi', asked: '200Gi' } as const;
const volume = (state: ResizingVolume['state'], message?: string): ResizingVolume => ({
  ...data,
  state,
  ...(message === undefined ? {} : { message }),
});
const fine = [ready('it runs and answers')];

/** What is said `afterMs` after a growth began. */
function said(volumes: readonly ResizingVolume[], afterMs = 0, found: readonly ConditionUpdate[] = fine) {
  const running = { resizing: volumes };
  const first = withVolumes(found, running, undefined, new Date(0));
  const known = mergeConditions([], first.conditions, 1, new Date(0));
  const { conditions, againMs } = withVolumes(found, running, { conditions: known }, new Date(afterMs));
  return {
    conditions: conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`),
    againMs,
    all: conditions,
  };
}

describe('a volume that grows', () => {
  it('is work under way, told with the claim, its size and the one that was asked', () => {
    const { conditions, all } = said([volume('growing')]);
    expect(conditions).toEqual(['Ready=Unknown Resizing', 'Reconciling=True Resizing', 'VolumeResizing=True Resizing']);
    expect(all[0]?.message).toMatch(/^PersistentVolumeClaim data-demo-server-0 has 100Gi, and 200Gi was asked: /);
  });
  it('is looked at again when its time is over, and needs a person then', () => {
    expect(said([volume('growing')], minute).againMs).toBe(9 * minute);
    expect(said([volume('growing')], 10 * minute)).toMatchObject({
      conditions: ['Ready=False VolumeNotGrown', 'Stalled=True VolumeNotGrown', 'VolumeResizing=True Resizing'],
      againMs: undefined,
    });
  });
  it('and waits for its pod says how that is restarted', () => {
    const { conditions, all } = said([volume('waits-for-pod')]);
    expect(conditions.at(-1)).toBe('VolumeResizing=True FileSystemResizePending');
    expect(all[0]?.message).toContain('coffer.dev/restartedAt');
  });
  it('and fails says the words of the storage driver, before those that only take their time', () => {
    const other = { ...volume('growing'), claim: 'data-demo-server-1' };
    const { conditions, all } = said([other, volume('failed', 'no space left in the pool')]);
    expect(conditions[0]).toBe('Ready=Unknown ResizeFailed');
    expect(all[0]?.message).toMatch(/^PersistentVolumeClaim data-demo-server-0 .*: no space left in the pool; correct/);
  });
  it.each(['growing', 'failed'] as const)(
    'and is %s names a command that finds the claim from each namespace',
    (state) => {
      const [ready] = said([{ ...volume(state), namespace: 'team' }]).all;
      expect(ready?.message).toContain('kubectl describe persistentvolumeclaim data-demo-server-0 --namespace team');
    },
  );
  it('leaves the first word to what else is wrong', () => {
    const found = [notReady('CrashLoop', 'it ends'), stalled('CrashLoop', 'it ends')];
    const { conditions } = said([volume('growing')], 10 * minute, found);
    expect(conditions).toEqual(['Ready=False CrashLoop', 'Stalled=True CrashLoop', 'VolumeResizing=True Resizing']);
  });
});

const saidOfDeleted = (found: readonly ConditionUpdate[]) =>
  withVolumes(found, { deletedClaims: ['data-demo-server-0'] }, undefined, new Date(0)).conditions;

describe('a volume whose claim was deleted while a pod uses it', () => {
  it('needs a person, before its pod ends and takes the data along', () => {
    const conditions = saidOfDeleted(fine);
    expect(conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`)).toEqual([
      'Ready=False VolumeBeingDeleted',
      'Stalled=True VolumeBeingDeleted',
    ]);
    expect(conditions[0]?.message).toBe(
      'PersistentVolumeClaim data-demo-server-0 was deleted, and goes with its data when its pod ends, which the operator does not restart ' +
        'meanwhile: set persistentVolumeReclaimPolicy of its PersistentVolume to Retain, or copy the data, and then delete the pod',
    );
  });

  it('comes before what else is wrong', () => {
    const found = [notReady('CrashLoop', 'it ends'), stalled('CrashLoop', 'it ends')];
    expect(saidOfDeleted(found).map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'Ready VolumeBeingDeleted',
      'Stalled VolumeBeingDeleted',
    ]);
  });
});

it('a growth that was taken back is no fault, and is told', () => {
  const { conditions, all } = said([{ ...volume('taken-back'), asked: '200Gi' }]);
  expect(conditions).toEqual(['Ready=True Ready', 'VolumeResizing=False GrowthTakenBack']);
  expect(all[1]?.message).toMatch(
    /^PersistentVolumeClaim data-demo-server-0 has 100Gi, as was asked; .* asks for 200Gi still/,
  );
});

it('a volume that is larger than asked is no fault, and is told', () => {
  const { conditions, all } = said([{ ...volume('cannot-shrink'), asked: '50Gi' }]);
  expect(conditions).toEqual(['Ready=True Ready', 'VolumeResizing=False CannotShrink']);
  expect(all[1]?.message).toBe(
    'PersistentVolumeClaim data-demo-server-0 keeps its 100Gi, though 50Gi was asked: a volume cannot shrink',
  );
});

it.each([
  ['Tenant/demo', 'demo-server', tenant()],
  ['KMSConfig/keys', 'keys-key-service', kms()],
] as const)('%s tells of its volumes, and looks again', async (key, workload, resource) => {
  const scope = new Namespace();
  const operator = await scope.started(resource);
  scope.runtime.resizing.set(workload, [volume('growing')]);
  await scope.change(operator, resource);
  expect(scope.conditions(key)?.[0]).toBe('Ready=Unknown Resizing');
  expect(scope.later.get(key)).toBe(10 * minute);
  scope.clock.ms += 10 * minute;
  await scope.change(operator, resource);
  expect(scope.conditions(key)?.slice(0, 2)).toEqual(['Ready=False VolumeNotGrown', 'Stalled=True VolumeNotGrown']);
  scope.runtime.resizing.delete(workload);
  await scope.change(operator, resource);
  expect(scope.conditions(key)?.filter((text) => !text.startsWith('TLSReady'))).toEqual(['Ready=True Ready']);
});
