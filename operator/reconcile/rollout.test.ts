import { describe, expect, it } from 'vitest';
import type { RunningWorkload } from '../runtime.ts';
import type { Workload } from '../workload.ts';
import { isInMidRollout, isSettled, nextStep, providerInvalid, type RolloutSurroundings } from './rollout.ts';
import { kubernetesOptions, runningWorkload, sampleWorkload } from './workload-fixture.ts';

const calm: RolloutSurroundings = { paused: false, unsettled: undefined, store: undefined, mayRoll: true };

/** `replace demo-server-1`, `wait PodNotReady`, `wait PodNotReady (progressing)`. */
function step(
  desired: Workload,
  running: RunningWorkload | undefined,
  around: Partial<RolloutSurroundings> = {},
): string {
  const next = nextStep(desired, running, { ...calm, ...around });
  if (next.kind === 'replace') return `replace ${next.instance.name}`;
  if (next.kind === 'wait') return `wait ${next.blocker.reason}${next.progressing ? ' (progressing)' : ''}`;
  return next.kind;
}
const roll = (instances: readonly string[], around: Partial<RolloutSurroundings> = {}) =>
  step(sampleWorkload('2'), runningWorkload(instances, '2'), around);

describe('the next step of a workload', () => {
  it('is to start it where there is none', () => {
    expect(step(sampleWorkload(), undefined)).toBe('start');
  });
  it('is to wait for its key service before it is started', () => {
    expect(step(sampleWorkload(), undefined, { unsettled: 'waits for keys' })).toBe('wait KeyServiceUnavailable');
  });
  it('is to record a change first', () => {
    expect(step(sampleWorkload('2'), runningWorkload(['ready 1']))).toBe('update');
  });
  it('is to wait for its key service before a change is recorded, so that nothing comes up with it too early', () => {
    const around = { unsettled: 'waits for keys' };
    expect(step(sampleWorkload('2'), runningWorkload(['ready 1']), around)).toBe('wait KeyServiceUnavailable');
  });
  it('is only to refresh where inputs are the same, whatever else differs: an operator upgrade restarts nothing', () => {
    expect(step(sampleWorkload('1', { arguments: [], image: 'other' }), runningWorkload(['ready 1']))).toBe('refresh');
  });
  it('is only to refresh while a key service is down and nothing changed', () => {
    expect(step(sampleWorkload(), runningWorkload(['ready 1']), { unsettled: 'down' })).toBe('refresh');
  });
  it('leaves what is paused alone', () => {
    expect(step(sampleWorkload('2'), runningWorkload(['ready 1']), { paused: true })).toBe('leave');
    expect(step(sampleWorkload('2'), undefined, { paused: true })).toBe('leave');
  });
  it('records a change of what is hibernated without waiting for anything', () => {
    const hibernated = sampleWorkload('2', { kubernetes: kubernetesOptions({ hibernated: true }) });
    expect(step(hibernated, runningWorkload([]), { unsettled: 'hibernated too' })).toBe('update');
  });
});

describe('what is hibernated', () => {
  it('has no instance replaced: all of them end', () => {
    const hibernated = sampleWorkload('2', { kubernetes: kubernetesOptions({ hibernated: true }) });
    expect(step(hibernated, runningWorkload(['ready 1'], '2', { wanted: 0 }))).toBe('refresh');
  });
});

describe('instances', () => {
  it('are replaced from the last', () => {
    expect(roll(['ready 1', 'ready 1', 'ready 1'])).toBe('replace demo-server-2');
  });
  it('are ordered by number, not by letter', () => {
    expect(roll(Array.from({ length: 11 }, () => 'ready 1'))).toBe('replace demo-server-10');
  });
  it('are replaced one at a time', () => {
    expect(roll(['ready 1', 'ready 1', 'stopping 1'])).toBe('wait PodNotReady (progressing)');
    expect(roll(['ready 1', 'ready 1', 'starting 2'])).toBe('wait PodNotReady (progressing)');
  });
  it('go on when the one before is ready', () => {
    expect(roll(['ready 1', 'ready 1', 'ready 2'])).toBe('replace demo-server-1');
  });
  it('wait for one that is not there yet', () => {
    expect(step(sampleWorkload('2'), runningWorkload(['ready 1', 'ready 1'], '2', { wanted: 3 }))).toBe(
      'wait PodNotReady (progressing)',
    );
  });
  it('are not replaced while another is not ready', () => {
    expect(roll(['ready 1', 'not-ready 2'])).toBe('wait PodNotReady');
    expect(roll(['ready 1', 'broken 2'])).toBe('wait PodNotReady');
  });
  it('that are broken and outdated go first, and wait for nothing', () => {
    const nothing = { unsettled: 'down', mayRoll: false, store: { healthy: false, message: 'healing' } };
    expect(roll(['broken 1', 'ready 1'], nothing)).toBe('replace demo-server-0');
    expect(roll(['ready 1', 'not-ready 1', 'broken 1'], nothing)).toBe('replace demo-server-2');
    expect(roll(['not-ready 1'], nothing)).toBe('replace demo-server-0');
  });
  it('that broke under the new version are repaired by the next good one', () => {
    const running = runningWorkload(['ready 1', 'ready 1', 'broken 2'], '3');
    expect(step(sampleWorkload('3'), running)).toBe('replace demo-server-2');
  });
  it('that are broken and up to date are left to their runtime', () => {
    expect(roll(['broken 2'])).toBe('refresh');
  });
  it('of which there is one are replaced while ready', () => {
    expect(roll(['ready 1'])).toBe('replace demo-server-0');
  });
});

describe('a ready instance is kept', () => {
  it('while its key service is not ready', () => {
    expect(roll(['ready 1', 'ready 1'], { unsettled: 'down' })).toBe('wait KeyServiceUnavailable');
  });
  it('while the store cannot spare it', () => {
    expect(roll(['ready 1', 'ready 1'], { store: { healthy: false, message: 'healing' } })).toBe(
      'wait StoreNotHealthy',
    );
  });
  it('while the fleet has no place', () => {
    expect(roll(['ready 1'], { mayRoll: false })).toBe('wait RolloutInProgress');
  });
  it('and the blocker says which instance is not ready, and why', () => {
    const next = nextStep(sampleWorkload('2'), runningWorkload(['ready 1', 'not-ready 2'], '2'), calm);
    expect(next).toMatchObject({ blocker: { message: 'demo-server-1 is not ready: answered 503' } });
  });
});

describe('a refused version of a provider', () => {
  it('is told by its name', () => {
    expect(providerInvalid({ name: 'a', message: 'answered 404' })).toEqual({
      reason: 'ProviderInvalid',
      message: 'IdentityProvider a: answered 404',
    });
  });
});

describe('a workload is settled', () => {
  it.each([
    [['ready 1', 'ready 1'], '1', true],
    [['ready 1', 'starting 1'], '1', false],
    [['ready 1', 'ready 2'], '1', false],
    [['ready 1'], '2', false],
  ] as const)('%j, recorded %s: %s', (instances, recorded, expected) => {
    expect(isSettled(sampleWorkload('1'), runningWorkload(instances, recorded))).toBe(expected);
  });
  it('not before all instances are there', () => {
    expect(isSettled(sampleWorkload(), runningWorkload(['ready 1'], '1', { wanted: 2 }))).toBe(false);
  });
});

describe('a workload is in mid-rollout', () => {
  const { owner } = sampleWorkload();
  it.each([
    [['ready 1', 'ready 2'], true],
    [['ready 2', 'starting 2'], true],
    // Recorded, and nothing replaced yet.
    [['ready 1', 'ready 1'], false],
    [['ready 2', 'ready 2'], false],
    // One that stays broken must not hold up the fleet at every start of the operator.
    [['broken 2'], false],
  ] as const)('%j: %s', (instances, expected) => {
    expect(isInMidRollout(runningWorkload(instances, '2'), owner)).toBe(expected);
  });
});
