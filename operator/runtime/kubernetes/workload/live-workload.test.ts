import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import { workloadConditions } from '../../../reconcile/workload-conditions.ts';
import { rejectedPods } from './live-workload.ts';
import { workloadView } from './workload-view.ts';

const quota = 'pods "demo-0" is forbidden: exceeded quota: compute, requested: requests.cpu=1, used: 0, limited: 0';

const statefulSet: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'demo', namespace: 'default', uid: 'one' },
  spec: { replicas: 1, template: { spec: {} } },
};

function event(message: string, lastTimestamp = '2026-11-01T12:00:00Z', uid = 'one'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `demo.${lastTimestamp}`, namespace: 'default' },
    involvedObject: { kind: 'StatefulSet', name: 'demo', uid },
    reason: 'FailedCreate',
    message,
    lastTimestamp,
  };
}

const failed = event(`create Pod demo-0 in StatefulSet demo failed error: ${quota}`);
const rejected = (...events: readonly KubeObject[]) => [...rejectedPods(statefulSet, events, new Map())];

describe('a pod that could not be made', () => {
  it('is refused with the words of the admission', () => {
    expect(rejected(failed)).toEqual([['demo-0', quota]]);
  });
  it('is refused where its claim was', () => {
    const message = 'create Claim data-demo-0 for Pod demo-0 in StatefulSet demo failed error: exceeded quota';
    expect(rejected(event(message))).toEqual([['demo-0', 'exceeded quota']]);
  });
  it('is refused with the last word', () => {
    const later = event('create Pod demo-0 in StatefulSet demo failed error: later', '2026-11-01T12:00:01Z');
    expect(rejected(later, failed)).toEqual([['demo-0', 'later']]);
  });
  it.each([
    [
      'of a StatefulSet before it of the same name',
      event('create Pod demo-0 in StatefulSet demo failed error: x', undefined, 'two'),
    ],
    ['that is not wanted any more', event('create Pod demo-1 in StatefulSet demo failed error: x')],
    ['that no event names', event('something else')],
  ])('is not one %s', (_, other) => {
    expect(rejected(other)).toEqual([]);
  });
  it('is not one that was there since', () => {
    const seen = new Map([['demo-0', Date.parse('2026-11-01T12:00:01Z')]]);
    expect([...rejectedPods(statefulSet, [failed], seen)]).toEqual([]);
  });
  it('makes its workload stalled', () => {
    const running = workloadView(
      {
        statefulSet,
        pods: [],
        service: undefined,
        replaced: new Set(),
        rejected: undefined,
        resizing: [],
        deletedClaims: [],
        rejectedPods: new Map([['demo-0', quota]]),
        fingerprint: (value) => value,
      },
      new Date(),
    );
    const seen = { running, step: undefined, issue: undefined, invalid: undefined, hibernated: false };
    expect(workloadConditions(seen)).toEqual([
      { type: 'Ready', status: 'False', reason: 'FailedCreate', message: `it is refused: ${quota}` },
      { type: 'Stalled', status: 'True', reason: 'FailedCreate', message: `it is refused: ${quota}` },
    ]);
  });
});
