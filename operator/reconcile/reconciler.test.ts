import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CofferObject } from '../api/object.ts';
import type { ProviderCheck } from './identity-provider/check-provider.ts';
import { broken, good, kms, Namespace, provider, tenant } from '../../test/support/operator/reconciler-harness.ts';
import { RecordingRuntime } from '../../test/support/operator/recording-runtime.ts';
import { RolloutLimit } from './rollout-limit.ts';

let space: Namespace;
beforeEach(() => {
  space = new Namespace();
});

const withProvider = { identityProviders: [{ name: 'a' }] };
const prefixed = (name: string, keyPrefix: string) =>
  tenant({ kmsConfigRef: { name: 'keys', keyPrefix, defaultKey: `${keyPrefix}key` } }, name);
const ready = (name: string) => space.runtime.become('demo-server', 'ready', name);
const withKeys = { kmsConfigRef: { name: 'keys' } };

const upgraded = () => space.open({ operandImage: 'coffer:2' });
const rolling = () => space.runtime.told.filter((told) => told.startsWith('replace'));

async function running(...objects: readonly CofferObject[]) {
  const operator = space.open({ operandImage: 'coffer:1' });
  space.objects = objects;
  await operator.start();
  await space.settle(operator);
  for (let turn = 0; turn < 3; turn++) await space.allReady(operator);
  space.forget();
}

describe('another default image of the operator', () => {
  it('restarts what names none, for a reason that names both images', async () => {
    await running(tenant());
    const operator = upgraded();
    await operator.start();
    await space.settle(operator);
    expect(space.restarts()).toEqual(['ImageChanged restarts for spec.image of Tenant demo (coffer:1 to coffer:2)']);
    expect(space.runtime.desired.get('demo-server')?.image).toBe('coffer:2');
  });

  it('restarts one after the other under the limit of the fleet', async () => {
    space.limit = new RolloutLimit({ places: 1, now: () => new Date(space.clock.ms) });
    await running(tenant({}, 'one'), tenant({}, 'two'), tenant({}, 'three'));
    const operator = upgraded();
    await operator.start();
    await space.settle(operator);
    expect(rolling()).toHaveLength(1);
    for (let turn = 0; turn < 3; turn++) await space.allReady(operator);
    expect(rolling()).toHaveLength(3);
  });

  it.each([
    ['names its own', { image: 'coffer:1' }],
    ['is paused', { paused: true }],
  ])('leaves alone what %s', async (_, spec) => {
    await running(tenant(spec));
    const operator = upgraded();
    await operator.start();
    await space.settle(operator);
    expect([space.restarts(), rolling()]).toEqual([[], []]);
  });

  it('is no change for a tenant that writes down the image that it runs', async () => {
    await running(tenant());
    const operator = space.open({ operandImage: 'coffer:1' });
    await space.change(operator, tenant({ image: 'coffer:1' }));
    expect(space.restarts()).toEqual([]);
  });
});

describe('what the operator does not allow', () => {
  it('stalls the resource with the words of the setting, and leaves alone what runs', async () => {
    await space.started(tenant(withKeys), kms());
    const operator = space.open({ refusedPod: ({ kind }) => `${kind} is not allowed` });
    await space.change(operator, tenant({ ...withKeys, serviceAccountName: 'admin' }), kms());
    expect(space.conditions('Tenant/demo')).toContain('Stalled=True NotAllowed');
    expect(space.conditions('KMSConfig/keys')).toContain('Stalled=True NotAllowed');
    expect(space.runtime.told).toEqual([]);
  });
});

describe('what the API server refuses', () => {
  it('leaves a new tenant stalled with the words of the server', async () => {
    space.runtime.refusing.add('demo-server');
    await space.started(tenant());
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=False ObjectRefused', 'Stalled=True ObjectRefused']);
  });

  it('is no restart of a tenant that runs: none is told, counted or shown', async () => {
    const operator = await space.started(tenant());
    space.runtime.refusing.add('demo-server');
    for (const cpu of ['a', 'b']) await space.change(operator, tenant({ resources: { request: { cpu } } }));
    expect([space.restarts(), space.counted, space.statuses.get('Tenant/demo')?.rollout]).toEqual([[], [], undefined]);
    expect(space.conditions('Tenant/demo')).toContain('Stalled=True ObjectRefused');
  });
});

describe('a first pass', () => {
  it('starts the key service, and the server once that is ready', async () => {
    space.objects = [tenant(withKeys), kms()];
    const operator = space.open();
    await operator.start();
    await space.settle(operator);
    expect(space.runtime.told).toEqual(['start keys-key-service']);
    expect(space.conditions('Tenant/demo')).toContain('Reconciling=True KeyServiceUnavailable');
    space.runtime.become('keys-key-service', 'ready');
    await space.settle(operator);
    expect(space.runtime.told).toEqual(['start keys-key-service', 'start demo-server']);
  });

  it('starts the server without a provider that is broken, and says so', async () => {
    await space.started(tenant(withProvider), provider('a', 'gone'));
    expect(JSON.stringify(space.runtime.running.get('demo-server')?.inputs)).not.toContain('IdentityProvider');
    expect(space.conditions('Tenant/demo')).toEqual([
      'Ready=False NotFound',
      'Stalled=True NotFound',
      'IdentityReady=False NotFound',
      'RolloutBlocked=True ProviderInvalid',
    ]);
    expect(space.conditions('IdentityProvider/a')).toContain('Ready=False NotFound');
  });

  it('reports a KMSConfig that does not exist instead of starting without encryption', async () => {
    await space.started(tenant(withKeys));
    expect([...space.runtime.running.keys()]).toEqual([]);
    expect(space.conditions('Tenant/demo')).toContain('Ready=False KMSConfigNotFound');
  });

  it('of an operator that starts again changes nothing and writes nothing', async () => {
    await space.started(tenant({ ...withKeys, ...withProvider }), kms(), provider('a'));
    const second = space.open();
    await second.start();
    await space.settle(second);
    expect([space.runtime.told, space.events]).toEqual([[], []]);
    expect(space.conditions('Tenant/demo')).toEqual([
      'Ready=True Ready',
      'IdentityReady=True Ready',
      'KMSReady=True Ready',
      'TLSReady=True Ready',
    ]);
  });
});

describe('a changed provider', () => {
  it('that passes its check restarts the server once and names the field', async () => {
    const operator = await space.started(tenant(withProvider), provider('a'));
    await space.change(operator, tenant(withProvider), provider('a', 'good', { scopes: ['openid'] }));
    expect(space.runtime.told).toEqual(['update demo-server', 'replace demo-server-0']);
    expect(space.restarts()).toEqual(['IdentityProviderChanged restarts for spec.scopes of IdentityProvider a']);
    expect(space.counted).toEqual(['rollout IdentityProviderChanged']);
  });

  it('whose Secret changed restarts the server once and names Secret and key', async () => {
    const operator = await space.started(tenant(withProvider), provider('a'));
    space.secrets = [{ name: 'client', data: { secret: 'two' } }];
    await space.change(operator, ...space.objects);
    expect(space.restarts()).toEqual(['SecretChanged restarts for key secret of Secret client']);
  });

  it('that is broken leaves the server alone, also when something else changes', async () => {
    const operator = await space.started(tenant(withProvider), provider('a'));
    const ofProvider = () =>
      space.runtime.running.get('demo-server')?.inputs.filter(({ of }) => of.kind === 'IdentityProvider');
    const before = ofProvider();
    await space.change(operator, tenant(withProvider), provider('a', 'gone'));
    expect(space.runtime.told).toEqual([]);
    expect(space.conditions('Tenant/demo')).toContain('RolloutBlocked=True ProviderInvalid');
    await space.change(operator, tenant({ ...withProvider, image: 'coffer:2' }), provider('a', 'gone'));
    expect(space.restarts()).toEqual(['ImageChanged restarts for spec.image of Tenant demo']);
    expect(ofProvider()).toEqual(before);
  });

  it('is one restart together with another one', async () => {
    const both = { identityProviders: [{ name: 'a' }, { name: 'b' }] };
    const operator = await space.started(tenant(both), provider('a'), provider('b'));
    const slow = Promise.withResolvers<ProviderCheck>();
    space.verdict = (url) => (url.includes('/good/slow') ? slow.promise : good);
    const [first, second] = [provider('a', 'good', { scopes: ['openid'] }), provider('b', 'good/slow')];
    await space.change(operator, tenant(both), first, second);
    expect(space.runtime.told).toEqual([]);
    expect(space.conditions('Tenant/demo')).toContain('Reconciling=True CheckPending');
    slow.resolve(good);
    await space.settle(operator);
    expect(space.runtime.told).toEqual(['update demo-server', 'replace demo-server-0']);
    expect(space.restarts()).toHaveLength(2);
  });

  it('that heals brings the server back in line', async () => {
    const operator = await space.started(tenant(withProvider), provider('a', 'gone'));
    await space.change(operator, tenant(withProvider), provider('a'));
    expect(space.restarts()).toEqual(['IdentityProviderAdded restarts for IdentityProvider a']);
  });

  it('that stays broken is asked again later', async () => {
    await space.started(tenant(), provider('a', 'gone'));
    expect(space.later.get('IdentityProvider/a')).toBe(1_000);
  });

  it('restarts nothing in a tenant that does not use it', async () => {
    const operator = await space.started(tenant(), provider('a'));
    await space.change(operator, tenant(), provider('a', 'good', { scopes: ['openid'] }));
    expect(space.runtime.told).toEqual([]);
  });

  it('restarts nothing in a tenant that is paused', async () => {
    const operator = await space.started(tenant(withProvider), provider('a'));
    const paused = tenant({ ...withProvider, paused: true });
    await space.change(operator, paused, provider('a', 'good', { scopes: ['openid'] }));
    expect(new Set(space.runtime.told)).toEqual(new Set(['renew demo-server']));
    expect(space.conditions('Tenant/demo')).toContain('Ready=True Paused');
  });

  it('is used as it passed before while it cannot be reached by an operator that starts again', async () => {
    await space.started(tenant(withProvider), provider('a'));
    space.verdict = () => broken;
    space.runtime = new RecordingRuntime();
    await space.started(tenant(withProvider), provider('a'));
    expect(JSON.stringify(space.runtime.running.get('demo-server')?.inputs)).toContain('IdentityProvider');
    expect(space.conditions('Tenant/demo')).toContain('IdentityReady=False NotFound');
  });
});

describe('a tenant that is paused', () => {
  it('has its certificates renewed while it runs, and nothing else done', async () => {
    const operator = await space.started(tenant());
    await space.change(operator, tenant({ paused: true, image: 'coffer:2', hibernated: true }));
    expect(space.runtime.told).toEqual(['renew demo-server']);
    expect(space.runtime.running.get('demo-server')?.wanted).toBe(1);
  });

  it('that never ran gets nothing, not even root credentials', async () => {
    const rootCredentials = vi.fn();
    const operator = space.open({ rootCredentials });
    await space.change(operator, tenant({ paused: true }));
    expect(space.runtime.told).toEqual([]);
    expect(rootCredentials).not.toHaveBeenCalled();
  });

  it('is not said to be wrong for what is not written right yet', async () => {
    const operator = await space.started(tenant());
    await space.change(operator, tenant({ paused: true, kmsConfigRef: { name: 'missing', keyPrefix: 'a-' } }));
    expect(space.conditions('Tenant/demo')).toContain('Ready=True Paused');
  });
});

describe('what is deleted', () => {
  it('is stopped', async () => {
    const operator = await space.started(tenant());
    await space.change(operator);
    expect(space.runtime.told).toEqual(['remove demo-server']);
  });

  it('takes its policy along from the key service', async () => {
    const operator = await space.started(prefixed('one', 'one-'), prefixed('two', 'two-'), kms());
    const policies = () => JSON.stringify(space.runtime.desired.get('keys-key-service')?.mounts);
    expect(policies()).toContain('tenant-two');
    space.objects = [prefixed('one', 'one-'), kms()];
    await operator.reconcile({ kind: 'Tenant', name: 'two' });
    await space.settle(operator);
    expect(policies()).not.toContain('tenant-two');
  });

  it('is left to the garbage collector while it is going', async () => {
    const operator = await space.started(tenant());
    space.deleting.add('Tenant/demo');
    await space.change(operator, tenant({ image: 'coffer:2' }));
    expect(space.runtime.told).toEqual([]);
  });

  it('takes along the accepted version that nobody uses any more', async () => {
    const operator = await space.started(tenant(withProvider), provider('a'));
    expect([...space.accepted.keys()]).toEqual(['a']);
    await space.change(operator, tenant(withProvider));
    expect([...space.accepted.keys()]).toEqual(['a']);
    await space.change(operator, tenant());
    expect([...space.accepted.keys()]).toEqual([]);
  });
});

describe('a manifest that is refused', () => {
  it('is told, and what runs of it is left alone', async () => {
    const operator = await space.started(tenant());
    space.invalid.set('Tenant/demo', 'spec.replicas: too small');
    await space.change(operator);
    expect(space.runtime.told).toEqual([]);
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=False InvalidSpec', 'Stalled=True InvalidSpec']);
  });
});

describe('passes', () => {
  it('with nothing new change nothing, tell nothing and write nothing', async () => {
    const operator = await space.started(tenant({ ...withProvider, ...withKeys }), provider('a'), kms());
    await space.change(operator, ...space.objects);
    space.clock.ms += 3_600_000;
    await space.change(operator, ...space.objects);
    expect([space.runtime.told, space.events, space.writes]).toEqual([[], [], []]);
  });

  it('that fail hold up no other resource', async () => {
    const operator = await space.started(tenant(), tenant({}, 'other'));
    space.runtime.failing.add('demo-server');
    await space.change(operator, tenant({ image: 'coffer:2' }), tenant({ image: 'coffer:2' }, 'other'));
    expect(space.errors).toEqual(['Error: demo-server cannot be applied']);
    expect(space.runtime.told).toEqual(['update other-server', 'replace other-server-0']);
  });

  it('of one tenant ask for no certificate of another, and for no pass of another', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `tenant-${index}`);
    const operator = await space.started(...names.map((name) => prefixed(name, `${name}-`)), kms());
    await operator.reconcile({ kind: 'Tenant', name: 'tenant-7' });
    await space.settle(operator);
    expect(space.runtime.asked).toEqual(['tenant-7-key-service-client']);
    expect(space.passes).toEqual([]);
  });

  it('come again in time for certificates that are running out', async () => {
    const [day, certificate] = [86_400_000, 'demo-key-service-client'];
    space.runtime.issued.set(certificate, { identity: certificate, notAfter: new Date(day) });
    await space.started(tenant(withKeys), kms());
    expect(space.later.get('Tenant/demo')).toBe(day / 6);
    expect(space.statuses.get('Tenant/demo')?.certificates).toEqual([
      { name: certificate, notAfter: '1970-01-02T00:00:00.000Z' },
    ]);
  });
});

describe('tenants of one key service', () => {
  it('do not share keys: the later of two overlapping ones is refused', async () => {
    await space.started(prefixed('one', 'a-'), prefixed('two', 'a-b-'), kms());
    expect(space.conditions('Tenant/two')).toContain('Ready=False KeyPrefixOverlap');
    expect(space.conditions('Tenant/one')).toContain('Ready=True Ready');
    expect([...space.runtime.running.keys()].sort()).toEqual(['keys-key-service', 'one-server']);
  });

  it('are heard again when the other one goes', async () => {
    const operator = await space.started(prefixed('one', 'a-'), prefixed('two', 'a-b-'), kms());
    await space.change(operator, prefixed('two', 'a-b-'), kms());
    await space.allReady(operator);
    await space.allReady(operator);
    expect(space.conditions('Tenant/two')).toContain('Ready=True Ready');
  });

  it('wait until the key service admits them', async () => {
    const operator = await space.started(prefixed('one', 'a-'), kms());
    space.objects = [prefixed('one', 'a-'), prefixed('two', 'b-'), kms()];
    await operator.reconcile({ kind: 'Tenant', name: 'two' });
    expect(space.runtime.told).toEqual([]);
    expect(space.conditions('Tenant/two')).toContain('Reconciling=True KeyServiceUnavailable');
    await operator.reconcile({ kind: 'KMSConfig', name: 'keys' });
    await space.settle(operator);
    expect(space.runtime.told).toEqual(['start two-server']);
  });

  it('are restarted after it when both changed', async () => {
    const operator = await space.started(prefixed('one', 'a-'), kms());
    const changed = tenant({ image: 'coffer:2', kmsConfigRef: prefixed('one', 'a-').spec.kmsConfigRef ?? {} }, 'one');
    await space.change(operator, changed, kms({ image: 'coffer:2' }));
    expect(space.runtime.told).toEqual(['update keys-key-service', 'replace keys-key-service-0']);
    expect(space.conditions('Tenant/one')).toContain('RolloutBlocked=True KeyServiceUnavailable');
    await space.allReady(operator);
    expect(space.runtime.told.slice(2)).toEqual(['update one-server', 'replace one-server-0']);
  });
});

describe('several servers', () => {
  const storage = {
    records: { postgres: { urlSecretRef: { name: 'client', key: 'secret' } } },
    blobs: { sharedVolume: { claimName: 'blobs' } },
  };
  const three = { replicas: 3, storage };

  async function rolling() {
    const operator = await space.started(tenant(three));
    await space.change(operator, tenant({ ...three, image: 'coffer:2' }));
    return operator;
  }

  it('are replaced one after the other, each when the one before is ready', async () => {
    const operator = await rolling();
    expect(space.runtime.told).toEqual(['update demo-server', 'replace demo-server-2']);
    await operator.reconcile({ kind: 'Tenant', name: 'demo' });
    expect(space.runtime.told).toHaveLength(2);
    ready('demo-server-2');
    await space.settle(operator);
    expect(space.runtime.told.slice(2)).toEqual(['replace demo-server-1']);
    ready('demo-server-1');
    await space.settle(operator);
    ready('demo-server-0');
    await space.settle(operator);
    expect(space.runtime.told.slice(3)).toEqual(['replace demo-server-0']);
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Ready']);
    expect(space.limit.held).toBe(0);
  });

  it('are never Ready while one is outdated, and the status says how far it is', async () => {
    const operator = await rolling();
    const seen: (readonly string[] | undefined)[] = [];
    for (const name of ['demo-server-2', 'demo-server-1', 'demo-server-0']) {
      seen.push(space.conditions('Tenant/demo'));
      ready(name);
      await space.settle(operator);
    }
    expect(seen.flat().filter((condition) => condition?.startsWith('Ready=True'))).toEqual([]);
    expect(seen.every((conditions) => conditions?.some((text) => text.startsWith('Reconciling=True')))).toBe(true);
    expect(space.statuses.get('Tenant/demo')).toMatchObject({ servers: '3/3', health: 'Healthy', version: '1.0' });
  });

  it('tell the reason, what is updated and how many there are while they roll', async () => {
    const operator = await rolling();
    ready('demo-server-2');
    await space.settle(operator);
    expect(space.statuses.get('Tenant/demo')).toMatchObject({
      servers: '2/3',
      health: 'Degraded',
      rollout: { reason: 'ImageChanged: spec.image of Tenant demo', updated: 2, total: 3 },
    });
  });

  it('are not touched further when the first one breaks, and the next good spec repairs it', async () => {
    const operator = await rolling();
    space.runtime.become('demo-server', { kind: 'broken', restarts: 3, message: 'no such image' }, 'demo-server-2');
    await space.settle(operator);
    expect(space.runtime.told).toHaveLength(2);
    expect(space.conditions('Tenant/demo')).toEqual([
      'Ready=False CrashLoop',
      'Stalled=True CrashLoop',
      'RolloutBlocked=True PodNotReady',
    ]);
    expect(space.counted).toEqual(['rollout ImageChanged', 'blocked PodNotReady']);
    await space.change(operator, tenant({ ...three, image: 'coffer:3' }));
    expect(space.runtime.told.slice(2)).toEqual(['update demo-server', 'replace demo-server-2']);
  });

  it('are kept while the store cannot spare one', async () => {
    const operator = await space.started(tenant(three));
    space.runtime.health = { healthy: false, message: 'a volume is healing' };
    await space.change(operator, tenant({ ...three, image: 'coffer:2' }));
    expect(space.runtime.told).toEqual(['update demo-server']);
    expect(space.conditions('Tenant/demo')).toEqual([
      'Ready=Unknown StoreNotHealthy',
      'Reconciling=True StoreNotHealthy',
      'RolloutBlocked=True StoreNotHealthy',
    ]);
    expect(space.later.get('Tenant/demo')).toBe(5_000);
  });
});

describe('the fleet', () => {
  it('rolls a few at a time, and goes on when one is done', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `t${index}`);
    const operator = await space.started(...names.map((name) => tenant({}, name)));
    await space.change(operator, ...names.map((name) => tenant({ image: 'coffer:2' }, name)));
    const replaced = () => space.runtime.told.filter((text) => text.startsWith('replace'));
    expect(replaced()).toHaveLength(5);
    expect(space.counted.filter((text) => text === 'blocked RolloutInProgress')).toHaveLength(2);
    const [first = ''] = replaced();
    space.runtime.become(first.replace(/^replace (.*)-0$/, '$1'), 'ready');
    await space.settle(operator);
    expect(replaced()).toHaveLength(6);
    for (let turn = 0; turn < 3; turn++) await space.allReady(operator);
    expect(replaced()).toHaveLength(7);
    expect(space.limit.held).toBe(0);
  });

  it('counts what an operator before left in mid-rollout', async () => {
    await space.started(tenant());
    space.runtime.become('demo-server', { kind: 'starting' });
    const second = space.open();
    await second.start();
    expect(space.limit.held).toBe(1);
    space.runtime.become('demo-server', 'ready');
    await space.settle(second);
    expect(space.limit.held).toBe(0);
  });
});

describe('a hibernated tenant', () => {
  it('has no server, and is Ready for what was asked', async () => {
    const operator = await space.started(tenant());
    await space.change(operator, tenant({ hibernated: true }));
    expect(space.statuses.get('Tenant/demo')).toMatchObject({ servers: '0/0', health: 'Hibernated' });
    expect(space.conditions('Tenant/demo')).toEqual(['Ready=True Hibernated']);
    await space.change(operator, tenant());
    await space.allReady(operator);
    expect(space.statuses.get('Tenant/demo')).toMatchObject({ servers: '1/1', health: 'Healthy' });
  });
});

describe('a key service on nodes with swap', () => {
  it('names them in a condition and in one event, and stays ready', async () => {
    const asked: string[] = [];
    const operator = space.open({
      swapNodes: (workload) => Promise.resolve((asked.push(workload), ['node-1', 'node-2'])),
    });
    space.objects = [kms()];
    await operator.start();
    await space.settle(operator);
    await space.allReady(operator);
    expect(asked[0]).toBe('keys-key-service');
    expect(space.conditions('KMSConfig/keys')).toEqual([
      'Ready=True Ready',
      'TLSReady=True Ready',
      'SwapPossible=True NodeHasSwap',
    ]);
    const told = space.events.filter(({ reason }) => reason === 'NodeHasSwap');
    expect(told).toMatchObject([{ type: 'Warning', about: { kind: 'KMSConfig', name: 'keys' } }]);
    expect(told[0]?.message).toContain('node-1, node-2');
  });
});
