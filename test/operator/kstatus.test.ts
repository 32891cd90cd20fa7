import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../operator/kube-client/kube-api.ts';
import { kstatus, type KStatus } from '../support/operator/read-cluster.ts';

function object(status: object | undefined, metadata: Partial<KubeObject['metadata']> = {}): KubeObject {
  return {
    apiVersion: 'coffer.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name: 'demo', generation: 2, ...metadata },
    ...(status === undefined ? {} : { status }),
  };
}

function conditions(...list: readonly (readonly [string, string])[]): object {
  return { observedGeneration: 2, conditions: list.map(([type, status]) => ({ type, status })) };
}

const cases: readonly (readonly [string, KubeObject, KStatus])[] = [
  ['no status at all', object(undefined), 'Current'],
  ['a generation that was not observed', object({ observedGeneration: 1 }), 'InProgress'],
  ['ready', object(conditions(['Ready', 'True'])), 'Current'],
  ['not ready', object(conditions(['Ready', 'False'])), 'InProgress'],
  ['not known to be ready', object(conditions(['Ready', 'Unknown'])), 'InProgress'],
  ['ready and reconciling', object(conditions(['Ready', 'True'], ['Reconciling', 'True'])), 'InProgress'],
  ['stalled', object(conditions(['Ready', 'False'], ['Stalled', 'True'])), 'Failed'],
  [
    'ready once, before the generation',
    object({ ...conditions(['Ready', 'True']), observedGeneration: 1 }),
    'InProgress',
  ],
  [
    'ready and in deletion',
    object(conditions(['Ready', 'True']), { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    'Terminating',
  ],
];

describe('kstatus', () => {
  it.each(cases)('of %s', (_what, resource, expected) => {
    expect(kstatus(resource)).toBe(expected);
  });
});
