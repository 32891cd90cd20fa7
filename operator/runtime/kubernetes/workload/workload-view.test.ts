import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import { restartReasons } from '../../../reconcile/rollout.ts';
import { imageInput } from '../../../render/restart-inputs.ts';
import type { RestartInput } from '../../../contract/workload.ts';
import { writeInputs, ownedLabels } from '../objects/labels.ts';
import { workloadView } from './workload-view.ts';

const owner = { kind: 'Tenant', name: 'demo' } as const;
const fingerprint = (value: string) => `digest of ${value}`;
const port: RestartInput = { reason: 'TenantChanged', field: 'spec.addresses', of: owner, fingerprint: '1' };
const rendered = (image: string) => [...imageInput(owner, image, { fingerprint }), port];

function running(inputs: readonly RestartInput[]) {
  const template = {
    metadata: { annotations: { 'coffer.dev/inputs': writeInputs(inputs) } },
    spec: { containers: [{ name: 'server', image: 'coffer:1' }] },
  };
  const metadata = { name: 'demo-server', namespace: 'default', labels: ownedLabels(owner) };
  const statefulSet: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: { replicas: 1, template },
  };
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name: 'demo-server-0', annotations: template.metadata.annotations },
    spec: template.spec,
  };
  const live = { statefulSet, pods: [pod], service: undefined, replaced: new Set<string>(), rejected: undefined };
  return workloadView({ ...live, resizing: [], deletedClaims: [], rejectedPods: new Map(), fingerprint }, new Date());
}

describe('what an operator started to which a default image was no input', () => {
  it.each([
    ['coffer:1', []],
    ['coffer:2', [{ reason: 'ImageChanged', field: 'spec.image of Tenant demo (coffer:1 to coffer:2)' }]],
  ])('runs the image of its template, so that %s is told as what it is', (image, reasons) => {
    const { inputs, instances } = running([port]);
    expect(restartReasons(inputs, rendered(image), owner)).toEqual(reasons);
    expect(restartReasons(instances[0]?.inputs ?? [], rendered(image), owner)).toEqual(reasons);
  });
  it('has what is recorded', () => {
    expect(running(rendered('coffer:0')).inputs).toEqual(rendered('coffer:0'));
  });
});

it('tells the selector of its pods, as its StatefulSet has it', () => {
  expect(running([port]).selector).toBe('app.kubernetes.io/managed-by=coffer-operator,coffer.dev/workload=demo-server');
});
