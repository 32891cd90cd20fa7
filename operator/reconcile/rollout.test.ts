import { describe, expect, it } from 'vitest';
import type { RestartInput, Workload } from '../contract/workload.ts';
import {
  describeRestarts,
  restartReasons,
  isInMidRollout,
  isSettled,
  nextStep,
  providerInvalid,
  type RolloutContext,
} from './rollout.ts';
import type { RunningWorkload } from '../contract/runtime.ts';
import { kubernetesOptions, runningWorkload, sampleWorkload } from '../../test/support/operator/workload-fixture.ts';

const owner = { kind: 'Tenant', name: 'demo' } as const;
const input = (kind: RestartInput['of']['kind'], name: string, field: string, fingerprint: string): RestartInput => ({
  reason:
    kind === 'Secret' ? 'SecretChanged' : kind === 'IdentityProvider' ? 'IdentityProviderChanged' : 'TenantChanged',
  field,
  of: { kind, name },
  fingerprint,
});
const scopes = (fingerprint: string) => input('IdentityProvider', 'a', 'spec.scopes', fingerprint);
const url = input('IdentityProvider', 'a', 'spec.configUrl', '1');

describe('restart reasons', () => {
  it('are none where nothing changed', () => {
    expect(restartReasons([scopes('1')], [scopes('1')], owner)).toEqual([]);
  });
  it('name the field and what it belongs to', () => {
    expect(describeRestarts(restartReasons([scopes('1')], [scopes('2')], owner))).toBe(
      'IdentityProviderChanged: spec.scopes of IdentityProvider a',
    );
  });
  it('name every field that changed', () => {
    const before = [scopes('1'), input('Tenant', 'demo', 'spec.tls', '1')];
    const after = [scopes('2'), input('Tenant', 'demo', 'spec.tls', '2')];
    expect(restartReasons(before, after, owner)).toHaveLength(2);
  });
  it('name a provider that was added once, not each of its fields', () => {
    expect(restartReasons([], [scopes('1'), url, input('Secret', 's', 'key k', '1')], owner)).toEqual([
      { reason: 'IdentityProviderAdded', field: 'IdentityProvider a' },
    ]);
  });
  it('name a provider that was removed once', () => {
    expect(restartReasons([scopes('1'), url], [], owner)).toEqual([
      { reason: 'IdentityProviderRemoved', field: 'IdentityProvider a' },
    ]);
  });
  it("name the owner's first field as a field, not as an added resource", () => {
    expect(restartReasons([], [input('Tenant', 'demo', 'spec.tls', '1')], owner)).toEqual([
      { reason: 'TenantChanged', field: 'spec.tls of Tenant demo' },
    ]);
  });
  it('leave out the Secret that another one replaced: the field that names it tells', () => {
    const before = [url, input('Secret', 'old', 'key k', '1')];
    const after = [{ ...url, fingerprint: '2' }, input('Secret', 'new', 'key k', '1')];
    expect(restartReasons(before, after, owner).map(({ field }) => field)).toEqual([
      'spec.configUrl of IdentityProvider a',
    ]);
  });
});

const calm: RolloutContext = { paused: false, unsettled: undefined, store: undefined, mayRoll: true };

/** `replace demo-server-1`, `wait PodNotReady`, `wait PodNotReady (progressing)`. */
function step(desired: Workload, running: RunningWorkload | undefined, around: Partial<RolloutContext> = {}): string {
  const next = nextStep(desired, running, { ...calm, ...around });
  if (next.kind === 'replace') return `replace ${next.instance.name}`;
  if (next.kind === 'wait') return `wait ${next.blocker.reason}${next.progressing ? ' (progressing)' : ''}`;
  return next.kind;
}
const roll = (instances: readonly string[], around: Partial<RolloutContext> = {}) =>
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
  it.each(['ready 1', 'not-ready 1', 'broken 1'])('is to keep a pod whose volume would go with it: %s', (instance) => {
    const running = runningWorkload([instance], '2', { deletedClaims: ['data-demo-server-0'] });
    expect(step(sampleWorkload('2'), running)).toBe('wait VolumeBeingDeleted');
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

describe('a change of what all instances must share', () => {
  const region = { field: 'setting SVC_REGION', of: owner, standard: 'us-east-1' } as const;
  const withRegion = (shown: string): RestartInput => ({
    reason: 'SettingsChanged',
    field: region.field,
    of: owner,
    fingerprint: `written ${shown}`,
    shown,
  });
  const image = (shown: string): RestartInput => ({
    reason: 'ImageChanged',
    field: 'spec.image',
    of: owner,
    fingerprint: shown,
    shown,
  });
  const desired: Workload = {
    ...sampleWorkload(),
    replicas: 3,
    inputs: [withRegion('2')],
    sharedInputs: [region],
  };
  const runningWith = (...inputs: readonly (readonly RestartInput[])[]): RunningWorkload => {
    const shown = runningWorkload(inputs.map(() => 'ready 1'));
    return {
      ...shown,
      inputs: desired.inputs,
      instances: shown.instances.map((instance, index) => ({ ...instance, inputs: inputs[index] ?? [] })),
    };
  };
  const running = (...regions: readonly string[]) => runningWith(...regions.map((each) => [withRegion(each)]));
  const free: RolloutContext = { paused: false, unsettled: undefined, store: undefined, mayRoll: true };

  it('replaces all of them at once, since none starts beside one with another value', () => {
    const step = nextStep(desired, running('1', '1', '1'), free);
    expect(step).toMatchObject({ kind: 'replace', instance: { name: 'demo-server-2' } });
    expect(step.kind === 'replace' && step.alongside?.map(({ name }) => name)).toEqual([
      'demo-server-1',
      'demo-server-0',
    ]);
  });

  it('replaces those that are left, where one has the new value already', () => {
    const step = nextStep(desired, running('1', '1', '2'), free);
    expect(step).toMatchObject({ kind: 'replace', instance: { name: 'demo-server-1' } });
    expect(step.kind === 'replace' && step.alongside).toHaveLength(1);
  });

  const shared = (...before: readonly RestartInput[]) => {
    const step = nextStep(desired, runningWith(before, before), free);
    return step.kind === 'replace' && step.shared;
  };

  it('says the former value and the new one', () => {
    expect(shared(withRegion('1'))).toBe('setting SVC_REGION of Tenant demo (1 to 2)');
    expect(shared()).toBe('setting SVC_REGION of Tenant demo (us-east-1 to 2)');
  });

  it('is told by the value, however it is written: another spelling replaces one after the other', () => {
    const written = { ...desired, inputs: [withRegion('us-east-1')] };
    const step = nextStep(written, { ...runningWith([], []), inputs: written.inputs }, free);
    expect(step).toMatchObject({ kind: 'replace', instance: { name: 'demo-server-1' } });
    expect(step.kind === 'replace' && step.alongside).toBeUndefined();
  });

  it('is told by the fingerprints where an earlier operator recorded no value', () => {
    const { shown: _, ...recorded } = withRegion('1');
    const step = nextStep(desired, runningWith([recorded], [recorded]), free);
    expect(step.kind === 'replace' && step.shared).toBe('setting SVC_REGION of Tenant demo (to 2)');
  });

  it('waits with anything else that changes: a bad image would end all servers', () => {
    const before = [withRegion('1'), image('a')];
    const both = { ...desired, inputs: [withRegion('2'), image('b')] };
    for (const inputs of [before, both.inputs]) {
      const step = nextStep(both, { ...runningWith(before, before), inputs }, free);
      expect(step).toMatchObject({ kind: 'wait', blocker: { reason: 'ChangesNotSeparate' } });
      expect(step.kind === 'wait' && step.blocker.message).toContain('spec.image of Tenant demo (a to b)');
    }
  });

  it('goes with anything else where no server is ready, or there is one alone', () => {
    const before = [withRegion('1'), image('a')];
    const both = { ...desired, inputs: [withRegion('2'), image('b')] };
    const seen = { ...runningWith(before, before), inputs: both.inputs };
    const down = seen.instances.map((instance) => ({
      ...instance,
      state: { kind: 'broken', restarts: 3, message: 'no such image' } as const,
    }));
    expect(nextStep(both, { ...seen, instances: down }, free)).toMatchObject({ kind: 'replace' });
    expect(nextStep(both, { ...runningWith(before), inputs: both.inputs }, free)).toMatchObject({ kind: 'replace' });
  });

  it('replaces the last one that is left: it alone keeps the others from joining', () => {
    const seen = running('2', '2', '1');
    const [first, second, last] = seen.instances;
    if (first === undefined || second === undefined || last === undefined) throw new Error('no instances');
    const joining = { kind: 'not-ready', message: 'has another region' } as const;
    const instances = [{ ...first, state: joining }, { ...second, state: joining }, last];
    const step = nextStep(desired, { ...seen, instances }, free);
    expect(step).toMatchObject({ kind: 'replace', instance: { name: 'demo-server-2' } });
    expect(nextStep(desired, { ...seen, instances: [first, last] }, free)).toMatchObject({ kind: 'replace' });
  });

  it('waits for a place in the fleet', () => {
    const step = nextStep(desired, running('1', '1', '1'), { ...free, mayRoll: false });
    expect(step).toMatchObject({ kind: 'wait', blocker: { reason: 'RolloutInProgress' } });
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
