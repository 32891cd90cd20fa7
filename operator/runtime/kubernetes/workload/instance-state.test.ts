import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import type { Instance, InstanceState } from '../../../contract/runtime.ts';
import { instanceOf, workloadState } from './instance-state.ts';

const now = new Date('2030-01-01T00:10:00Z');

function pod(status: object, metadata: object = {}, image = 'coffer:1'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'demo-0', uid: 'a', ...metadata },
    spec: { containers: [{ image }] },
    status,
  };
}

function state(status: object, metadata: object = {}): InstanceState {
  return instanceOf(pod(status, metadata), new Set(), now).state;
}

const container = (fields: object) => ({ containerStatuses: [{ name: 'server', restartCount: 0, ...fields }] });
const ready = (status: string, lastTransitionTime = '2030-01-01T00:00:00Z') => ({
  conditions: [{ type: 'Ready', status, lastTransitionTime }],
});
const running = (startedAt: string) => ({ state: { running: { startedAt } } });

describe('an instance', () => {
  it('is ready by its condition', () => {
    expect(state(ready('True'))).toEqual({ kind: 'ready' });
  });
  it('is stopping from its deletion on', () => {
    expect(state(ready('True'), { deletionTimestamp: '2030-01-01T00:00:00Z' })).toEqual({ kind: 'stopping' });
  });
  it('is stopping when it was deleted and no cache knows', () => {
    expect(instanceOf(pod(ready('True')), new Set(['a']), now).state).toEqual({ kind: 'stopping' });
  });
  it('starts before it has any status', () => {
    expect(state({})).toEqual({ kind: 'starting' });
  });
  it('starts, and says why no node takes it', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }];
    expect(state({ conditions })).toEqual({ kind: 'starting', message: 'no node takes it: 0/3 nodes' });
  });
  it('cannot start when no node took it for five minutes, be it for want of a volume', () => {
    const message = 'pod has unbound immediate PersistentVolumeClaims';
    const unscheduled = (since: string) => ({
      conditions: [{ type: 'PodScheduled', status: 'False', message, lastTransitionTime: since }],
    });
    expect(state(unscheduled('2030-01-01T00:05:01Z')).kind).toBe('starting');
    expect(state(unscheduled('2030-01-01T00:05:00Z'))).toEqual({
      kind: 'broken',
      restarts: 0,
      message: `no node takes it: ${message}`,
    });
  });
  it('starts until it answers for the first time', () => {
    const status = { ...container(running('2030-01-01T00:05:00Z')), ...ready('False') };
    expect(state(status).kind).toBe('starting');
  });
  it('is not ready when it answered before', () => {
    const status = { ...container(running('2029-12-31T23:00:00Z')), ...ready('False') };
    expect(state(status)).toEqual({ kind: 'not-ready', message: 'its readiness probe fails' });
  });
  it.each(['ImagePullBackOff', 'ErrImageNeverPull', 'CreateContainerConfigError', 'InvalidImageName'])(
    'is broken by %s',
    (reason) => {
      const waiting = { state: { waiting: { reason, message: 'why' } } };
      expect(state(container(waiting))).toEqual({ kind: 'broken', restarts: 0, message: `${reason}: why` });
    },
  );
  it('is not broken while its container is being made', () => {
    expect(state(container({ state: { waiting: { reason: 'ContainerCreating' } } })).kind).toBe('starting');
  });
  it('tells the last words of a program that ends again and again', () => {
    const lastState = {
      terminated: { exitCode: 1, reason: 'Error', message: 'first\n{"level":50,"msg":"no such key"}\n' },
    };
    const crash = { restartCount: 4, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState };
    const message = 'CrashLoopBackOff: its program ended with exit code 1: no such key';
    expect(state(container(crash))).toEqual({ kind: 'broken', restarts: 4, message });
  });
  it('stays broken in the short life between two crashes', () => {
    const lastState = { terminated: { exitCode: 137, reason: 'OOMKilled' } };
    const between = { restartCount: 4, ...running('2030-01-01T00:09:50Z'), lastState };
    expect(state(container(between))).toMatchObject({ kind: 'broken', message: expect.stringContaining('OOMKilled') });
  });
  it('is broken when its pod failed', () => {
    const evicted = { phase: 'Failed', reason: 'Evicted', message: 'no space' };
    expect(state(evicted)).toEqual({ kind: 'broken', restarts: 0, message: 'Evicted: no space' });
  });
  it.each([
    ['registry:5000/coffer:1.2', '1.2'],
    ['registry:5000/coffer', undefined],
    ['coffer@sha256:0123456789abcdef', '0123456789ab'],
    ['coffer:1.2@sha256:0123456789abcdef', '1.2'],
  ])('of the image %s has the version %s', (image, version) => {
    expect(instanceOf(pod({}, {}, image), new Set(), now).version).toBe(version);
  });
});

function instances(...states: readonly InstanceState[]): readonly Instance[] {
  return states.map((each, index) => ({ name: `demo-${index}`, inputs: [], state: each }));
}

describe('a workload', () => {
  const broken = { kind: 'broken', restarts: 2, message: 'why' } as const;
  it.each<[string, readonly Instance[], number, object]>([
    ['is stopped without instances', [], 0, { kind: 'stopped' }],
    ['starts while none is made', [], 1, { kind: 'starting' }],
    ['is ready when all are', instances({ kind: 'ready' }, { kind: 'ready' }), 2, { kind: 'ready' }],
    ['is ready while one too many stops', instances({ kind: 'ready' }, { kind: 'stopping' }), 1, { kind: 'ready' }],
    [
      'is in a crash loop when one is',
      instances({ kind: 'ready' }, broken),
      2,
      { kind: 'crash-loop', restarts: 2, message: 'demo-1: why' },
    ],
    [
      'is not ready while one is missing',
      instances({ kind: 'ready' }),
      2,
      { kind: 'not-ready', message: '1 of 2 instances are ready' },
    ],
  ])('%s', (_, list, wanted, expected) => {
    expect(workloadState(list, wanted)).toEqual(expected);
  });
});
