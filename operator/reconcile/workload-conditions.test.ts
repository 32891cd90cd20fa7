import { describe, expect, it } from 'vitest';
import { resourceKinds } from '../contract/workload.ts';
import { statusMisfits } from '../../test/support/operator/reconciler-harness.ts';
import { inputs, runningWorkload } from '../../test/support/operator/workload-fixture.ts';
import { workloadStatus } from './workload-conditions.ts';

const owner = { kind: 'Tenant', name: 'demo' } as const;
const status = (running: Parameters<typeof workloadStatus>[0], step?: Parameters<typeof workloadStatus>[2]) =>
  workloadStatus(running, 1, step, owner);

describe('the status of a workload', () => {
  it('counts the pods that there are, ready or not, for the scale subresource', () => {
    const running = runningWorkload(['ready', 'starting'], '1', { selector: 'a=b' });
    expect(status(running)).toMatchObject({ servers: '1/2', replicas: 2, selector: 'a=b' });
  });
  it('counts no pod that was refused', () => {
    const state = { kind: 'broken', restarts: 0, message: 'no quota', rejected: true } as const;
    const running = runningWorkload(['ready'], '1', { instances: [{ name: 'demo-server-0', inputs: [], state }] });
    expect(status(running)).toMatchObject({ replicas: 0 });
  });
  it('counts none before it is started', () => {
    expect(status(undefined)).toMatchObject({ servers: '0/1', replicas: 0 });
  });
  it('has room in its schema for any number of changes and versions', () => {
    const restarts = Array.from({ length: 128 }, (_, at) => ({
      reason: 'SettingsChanged' as const,
      field: `spec.settings[SVC_${'X'.repeat(60)}_${at}] of Tenant demo`,
    }));
    const versions = Array.from({ length: 8 }, (_, at) => `${at}${'9'.repeat(127)}`);
    const instances = versions.map((version, at) => ({
      name: `demo-server-${at}`,
      inputs: inputs('1'),
      state: { kind: 'ready' as const },
      version,
    }));
    const written = status(runningWorkload([], '2', { instances, wanted: 8 }), { kind: 'update', restarts });
    expect(written.rollout?.reason).toHaveLength(4_096);
    expect(statusMisfits('Tenant', written)).toEqual([]);
  });
});

describe('the schema of a status', () => {
  it.each(resourceKinds)('of %s refuses a field that the operator does not write there', (kind) => {
    const field = kind === 'Bucket' ? 'policyName' : 'bucketName';
    expect(statusMisfits(kind, { [field]: 'x' })).toHaveLength(1);
  });
});
