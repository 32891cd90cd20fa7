import { describe, expect, it } from 'vitest';
import type { RunningWorkload, WorkloadState } from '../runtime.ts';
import type { RestartInput, Workload } from '../workload.ts';
import { plan } from './plan.ts';

const of = { kind: 'Tenant', name: 'demo' } as const;
const inputs = (fingerprint: string): RestartInput[] => [{ reason: 'TenantChanged', field: 'spec.x', of, fingerprint }];
const workload = (name: string, fingerprint = '1', dependsOn: string[] = []): Workload => ({
  name,
  owner: of,
  program: 'keysvc',
  arguments: [],
  environment: [],
  ports: [],
  mounts: [],
  readiness: { kind: 'connect', port: 'x' },
  liveness: { kind: 'connect', port: 'x' },
  dependsOn,
  replicas: 1,
  inputs: inputs(fingerprint),
});
const running = (
  name: string,
  kind: 'ready' | 'starting' | 'stopped' = 'ready',
  fingerprint = '1',
): RunningWorkload => {
  const state: WorkloadState = { kind };
  return { name, inputs: inputs(fingerprint), state, addresses: {} };
};
const steps = (desired: Workload[], runs: RunningWorkload[], alone: string[] = []) =>
  plan(desired, runs, new Set(alone)).map((step) =>
    step.kind === 'remove' ? `remove ${step.name}` : `${step.kind} ${step.workload.name}`,
  );

describe('a plan', () => {
  it('starts the key service, and lets the server wait for it', () => {
    expect(steps([workload('keys'), workload('server', '1', ['keys'])], [])).toEqual(['start keys', 'wait server']);
  });
  it('lets the server wait while the key service is starting', () => {
    expect(steps([workload('keys'), workload('server', '1', ['keys'])], [running('keys', 'starting')])).toEqual([
      'refresh keys',
      'wait server',
    ]);
  });
  it('starts the server once the key service is ready', () => {
    expect(steps([workload('keys'), workload('server', '1', ['keys'])], [running('keys')])).toEqual([
      'refresh keys',
      'start server',
    ]);
  });
  it('restarts the key service before the server when both changed', () => {
    expect(
      steps([workload('keys', '2'), workload('server', '2', ['keys'])], [running('keys'), running('server')]),
    ).toEqual(['restart keys', 'wait server']);
  });
  it('leaves a running server alone while its key service is down', () => {
    expect(
      steps([workload('keys'), workload('server', '1', ['keys'])], [running('keys', 'stopped'), running('server')]),
    ).toEqual(['refresh keys', 'refresh server']);
  });
  it('restarts a server that never became ready: the next good spec repairs a broken one', () => {
    expect(steps([workload('server', '2')], [running('server', 'starting')])).toEqual(['restart server']);
  });
  it('removes what is no longer described', () => {
    expect(steps([], [running('server')])).toEqual(['remove server']);
  });
  it('keeps what cannot be rendered just now', () => {
    expect(steps([], [running('server')], ['server'])).toEqual([]);
  });
});
