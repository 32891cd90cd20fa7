import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CofferObject } from '../api/object.ts';
import type { ProviderCheck } from './identity-provider/check-provider.ts';
import { broken, good, kms, Namespace, provider, tenant } from '../../test/support/operator/reconciler-harness.ts';
import { identityOf, RecordingRuntime } from '../../test/support/operator/recording-runtime.ts';
import { RolloutLimit } from './rollout-limit.ts';

let scope: Namespace;
beforeEach(() => {
  scope = new Namespace();
});

const withProvider = { identityProviders: [{ name: 'a' }] };
const prefixed = (name: string, keyPrefix: string) =>
  tenant({ kmsConfigRef: { name: 'keys', keyPrefix, defaultKey: `${keyPrefix}key` } }, name);
const ready = (name: string) => scope.runtime.become('demo-server', 'ready', name);
const withKeys = { kmsConfigRef: { name: 'keys' } };

const upgraded = () => scope.open({ operandImage: 'coffer:2' });
const rolling = () => scope.runtime.told.filter((told) => told.startsWith('replace'));

async function running(...objects: readonly CofferObject[]) {
  const operator = scope.open({ operandImage: 'coffer:1' });
  scope.objects = objects;
  await operator.start();
  await scope.settle(operator);
  for (let turn = 0; turn < 3; turn++) await scope.allReady(operator);
  scope.forget();
}

describe('another default image of the operator', () => {
  it('restarts what names none, for a reason that names both images', async () => {
    await running(tenant());
    const operator = upgraded();
    await operator.start();
    await scope.settle(operator);
    expect(scope.restarts()).toEqual(['ImageChanged restarts for spec.image of Tenant demo (coffer:1 to coffer:2)']);
    expect(scope.runtime.desired.get('demo-server')?.image).toBe('coffer:2');
  });

  it('restarts one after the other under the limit of the fleet', async () => {
    scope.limit = new RolloutLimit({ places: 1, now: () => new Date(scope.clock.ms) });
    await running(tenant({}, 'one'), tenant({}, 'two'), tenant({}, 'three'));
    const operator = upgraded();
    await operator.start();
    await scope.settle(operator);
    expect(rolling()).toHaveLength(1);
    for (let turn = 0; turn < 3; turn++) await scope.allReady(operator);
    expect(rolling()).toHaveLength(3);
  });

  it.each([
    ['names its own', { image: 'coffer:1' }],
    ['is paused', { paused: true }],
  ])('leaves alone what %s', async (_, spec) => {
    await running(tenant(spec));
    const operator = upgraded();
    await operator.start();
    await scope.settle(operator);
    expect([scope.restarts(), rolling()]).toEqual([[], []]);
  });

  it('is no change for a tenant that writes down the image that it runs', async () => {
    await running(tenant());
    const operator = scope.open({ operandImage: 'coffer:1' });
    await scope.change(operator, tenant({ image: 'coffer:1' }));
    expect(scope.restarts()).toEqual([]);
  });
});

describe('what the operator does not allow', () => {
  it('stalls the resource with the words of the setting, and leaves alone what runs', async () => {
    await scope.started(tenant(withKeys), kms());
    const operator = scope.open({ rejectedPod: ({ kind }) => `${kind} is not allowed` });
    await scope.change(operator, tenant({ ...withKeys, serviceAccountName: 'admin' }), kms());
    expect(scope.conditions('Tenant/demo')).toContain('Stalled=True NotAllowed');
    expect(scope.conditions('KMSConfig/keys')).toContain('Stalled=True NotAllowed');
    expect(scope.runtime.told).toEqual([]);
  });
});

describe('what the API server refuses', () => {
  it('leaves a new tenant stalled with the words of the server', async () => {
    scope.runtime.refusing.add('demo-server');
    await scope.started(tenant());
    expect(scope.conditions('Tenant/demo')).toEqual(['Ready=False ObjectRefused', 'Stalled=True ObjectRefused']);
  });

  it('is no restart of a tenant that runs: none is told, counted or shown', async () => {
    const operator = await scope.started(tenant());
    scope.runtime.refusing.add('demo-server');
    for (const cpu of ['a', 'b']) await scope.change(operator, tenant({ resources: { request: { cpu } } }));
    expect([scope.restarts(), scope.counted, scope.statuses.get('Tenant/demo')?.rollout]).toEqual([[], [], undefined]);
    expect(scope.conditions('Tenant/demo')).toContain('Stalled=True ObjectRefused');
  });
});

describe('a first pass', () => {
  it('starts the key service, and the server once that is ready', async () => {
    scope.objects = [tenant(withKeys), kms()];
    const operator = scope.open();
    await operator.start();
    await scope.settle(operator);
    expect(scope.runtime.told).toEqual(['start keys-key-service']);
    expect(scope.conditions('Tenant/demo')).toContain('Reconciling=True KeyServiceUnavailable');
    scope.runtime.become('keys-key-service', 'ready');
    await scope.settle(operator);
    expect(scope.runtime.told).toEqual(['start keys-key-service', 'start demo-server']);
  });

  it('starts the server without a provider that is broken, and says so', async () => {
    await scope.started(tenant(withProvider), provider('a', 'gone'));
    expect(JSON.stringify(scope.runtime.running.get('demo-server')?.inputs)).not.toContain('IdentityProvider');
    expect(scope.conditions('Tenant/demo')).toEqual([
      'Ready=False NotFound',
      'Stalled=True NotFound',
      'IdentityReady=False NotFound',
      'RolloutBlocked=True ProviderInvalid',
    ]);
    expect(scope.conditions('IdentityProvider/a')).toContain('Ready=False NotFound');
  });

  it('reports a KMSConfig that does not exist instead of starting without encryption', async () => {
    await scope.started(tenant(withKeys));
    expect([...scope.runtime.running.keys()]).toEqual([]);
    expect(scope.conditions('Tenant/demo')).toContain('Ready=False KMSConfigNotFound');
  });

  it('of an operator that starts again changes nothing and writes nothing', async () => {
    await scope.started(tenant({ ...withKeys, ...withProvider }), kms(), provider('a'));
    const second = scope.open();
    await second.start();
    await scope.settle(second);
    expect([scope.runtime.told, scope.events]).toEqual([[], []]);
    expect(scope.conditions('Tenant/demo')).toEqual([
      'Ready=True Ready',
      'IdentityReady=True Ready',
      'KMSReady=True Ready',
      'TLSReady=True Ready',
    ]);
  });
});

describe('a changed provider', () => {
  it('that passes its check restarts the server once and names the field', async () => {
    const operator = await scope.started(tenant(withProvider), provider('a'));
    await scope.change(operator, tenant(withProvider), provider('a', 'good', { scopes: ['openid'] }));
    expect(scope.runtime.told).toEqual(['update demo-server', 'replace demo-server-0']);
    expect(scope.restarts()).toEqual(['IdentityProviderChanged restarts for spec.scopes of IdentityProvider a']);
    expect(scope.counted).toEqual(['rollout IdentityProviderChanged']);
  });

  it('whose Secret changed restarts the server once and names Secret and key', async () => {
    const operator = await scope.started(tenant(withProvider), provider('a'));
    scope.secrets = [{ name: 'client', data: { secret: 'two' } }];
    await scope.change(operator, ...scope.objects);
    expect(scope.restarts()).toEqual(['SecretChanged restarts for key secret of Secret client']);
  });

  it('that is broken leaves the server alone, also when something else changes', async () => {
    const operator = await scope.started(tenant(withProvider), provider('a'));
    const ofProvider = () =>
      scope.runtime.running.get('demo-server')?.inputs.filter(({ of }) => of.kind === 'IdentityProvider');
    const before = ofProvider();
    await scope.change(operator, tenant(withProvider), provider('a', 'gone'));
    expect(scope.runtime.told).toEqual([]);
    expect(scope.conditions('Tenant/demo')).toContain('RolloutBlocked=True ProviderInvalid');
    await scope.change(operator, tenant({ ...withProvider, image: 'coffer:2' }), provider('a', 'gone'));
    expect(scope.restarts()).toEqual(['ImageChanged restarts for spec.image of Tenant demo']);
    expect(ofProvider()).toEqual(before);
  });

  it('is one restart together with another one', async () => {
    const both = { identityProviders: [{ name: 'a' }, { name: 'b' }] };
    const operator = await scope.started(tenant(both), provider('a'), provider('b'));
    const slow = Promise.withResolvers<ProviderCheck>();
    scope.verdict = (url) => (url.includes('/good/slow') ? slow.promise : good);
    const [first, second] = [provider('a', 'good', { scopes: ['openid'] }), provider('b', 'good/slow')];
    await scope.change(operator, tenant(both), first, second);
    expect(scope.runtime.told).toEqual([]);
    expect(scope.conditions('Tenant/demo')).toContain('Reconciling=True CheckPending');
    slow.resolve(good);
    await scope.settle(operator);
    expect(scope.runtime.told).toEqual(['update demo-server', 'replace demo-server-0']);
    expect(scope.restarts()).toHaveLength(2);
  });

  it('that heals brings the server back in line', async () => {
    const operator = await scope.started(tenant(withProvider), provider('a', 'gone'));
    await scope.change(operator, tenant(withProvider), provider('a'));
    expect(scope.restarts()).toEqual(['IdentityProviderAdded restarts for IdentityProvider a']);
  });

  it('that stays broken is asked again later', async () => {
    await scope.started(tenant(), provider('a', 'gone'));
    expect(scope.later.get('IdentityProvider/a')).toBe(1_000);
  });

  it('restarts nothing in a tenant that does not use it', async () => {
    const operator = await scope.started(tenant(), provider('a'));
    await scope.change(operator, tenant(), provider('a', 'good', { scopes: ['openid'] }));
    expect(scope.runtime.told).toEqual([]);
  });

  it('restarts nothing in a tenant that is paused', async () => {
    const operator = await scope.started(tenant(withProvider), provider('a'));
    const paused = tenant({ ...withProvider, paused: true });
    await scope.change(operator, paused, provider('a', 'good', { scopes: ['openid'] }));
    expect(new Set(scope.runtime.told)).toEqual(new Set(['renew demo-server']));
    expect(scope.conditions('Tenant/demo')).toContain('Ready=True Paused');
  });

  it('is used as it passed before while it cannot be reached by an operator that starts again', async () => {
    await scope.started(tenant(withProvider), provider('a'));
    scope.verdict = () => broken;
    scope.runtime = new RecordingRuntime();
    await scope.started(tenant(withProvider), provider('a'));
    expect(JSON.stringify(scope.runtime.running.get('demo-server')?.inputs)).toContain('IdentityProvider');
    expect(scope.conditions('Tenant/demo')).toContain('IdentityReady=False NotFound');
  });
});

describe('a tenant that is paused', () => {
  it('has its certificates renewed while it runs, and nothing else done', async () => {
    const operator = await scope.started(tenant());
    await scope.change(operator, tenant({ paused: true, image: 'coffer:2', hibernated: true }));
    expect(scope.runtime.told).toEqual(['renew demo-server']);
    expect(scope.runtime.running.get('demo-server')?.wanted).toBe(1);
  });

  it('that never ran gets nothing, not even root credentials', async () => {
    const rootCredentials = vi.fn();
    const operator = scope.open({ rootCredentials });
    await scope.change(operator, tenant({ paused: true }));
    expect(scope.runtime.told).toEqual([]);
    expect(rootCredentials).not.toHaveBeenCalled();
  });

  it('is not said to be wrong for what is not written right yet', async () => {
    const operator = await scope.started(tenant());
    await scope.change(operator, tenant({ paused: true, kmsConfigRef: { name: 'missing', keyPrefix: 'a-' } }));
    expect(scope.conditions('Tenant/demo')).toContain('Ready=True Paused');
  });
});

describe('what is deleted', () => {
  it('is stopped', async () => {
    const operator = await scope.started(tenant());
    await scope.change(operator);
    expect(scope.runtime.told).toEqual(['remove demo-server']);
  });

  it('takes its policy along from the key service', async () => {
    const operator = await scope.started(prefixed('one', 'one-'), prefixed('two', 'two-'), kms());
    const policies = () => JSON.stringify(scope.runtime.desired.get('keys-key-service')?.mounts);
    expect(policies()).toContain('tenant-two');
    scope.objects = [prefixed('one', 'one-'), kms()];
    await operator.reconcile({ kind: 'Tenant', name: 'two' });
    await scope.settle(operator);
    expect(policies()).not.toContain('tenant-two');
  });

  it('is left to the garbage collector while it is going', async () => {
    const operator = await scope.started(tenant());
    scope.deleting.add('Tenant/demo');
    await scope.change(operator, tenant({ image: 'coffer:2' }));
    expect(scope.runtime.told).toEqual([]);
  });

  it('takes along the accepted version that nobody uses any more', async () => {
    const operator = await scope.started(tenant(withProvider), provider('a'));
    expect([...scope.accepted.keys()]).toEqual(['a']);
    await scope.change(operator, tenant(withProvider));
    expect([...scope.accepted.keys()]).toEqual(['a']);
    await scope.change(operator, tenant());
    expect([...scope.accepted.keys()]).toEqual([]);
  });
});

describe('a manifest that is refused', () => {
  it('is told, and what runs of it is left alone', async () => {
    const operator = await scope.started(tenant());
    scope.invalid.set('Tenant/demo', 'spec.replicas: too small');
    await scope.change(operator);
    expect(scope.runtime.told).toEqual([]);
    expect(scope.conditions('Tenant/demo')).toEqual(['Ready=False InvalidSpec', 'Stalled=True InvalidSpec']);
  });
});

describe('passes', () => {
  it('with nothing new change nothing, tell nothing and write nothing', async () => {
    const operator = await scope.started(tenant({ ...withProvider, ...withKeys }), provider('a'), kms());
    await scope.change(operator, ...scope.objects);
    scope.clock.ms += 3_600_000;
    await scope.change(operator, ...scope.objects);
    expect([scope.runtime.told, scope.events, scope.writes]).toEqual([[], [], []]);
  });

  it('that fail hold up no other resource', async () => {
    const operator = await scope.started(tenant(), tenant({}, 'other'));
    scope.runtime.failing.add('demo-server');
    await scope.change(operator, tenant({ image: 'coffer:2' }), tenant({ image: 'coffer:2' }, 'other'));
    expect(scope.errors).toEqual(['Error: demo-server cannot be applied']);
    expect(scope.runtime.told).toEqual(['update other-server', 'replace other-server-0']);
  });

  it('of one tenant ask for no certificate of another, and for no pass of another', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `tenant-${index}`);
    const operator = await scope.started(...names.map((name) => prefixed(name, `${name}-`)), kms());
    await operator.reconcile({ kind: 'Tenant', name: 'tenant-7' });
    await scope.settle(operator);
    expect(scope.runtime.asked).toEqual(['tenant-7-key-service-client']);
    expect(scope.reconciled).toEqual([]);
  });

  it('come again in time for certificates that are running out', async () => {
    const [day, certificate] = [86_400_000, 'demo-key-service-client'];
    scope.runtime.issued.set(certificate, { identity: identityOf(certificate), notAfter: new Date(day) });
    await scope.started(tenant(withKeys), kms());
    expect(scope.later.get('Tenant/demo')).toBe(day / 6);
    expect(scope.statuses.get('Tenant/demo')?.certificates).toEqual([
      { name: certificate, notAfter: '1970-01-02T00:00:00.000Z' },
    ]);
  });
});

describe('tenants of one key service', () => {
  it('do not share keys: the later of two overlapping ones is refused', async () => {
    await scope.started(prefixed('one', 'a-'), prefixed('two', 'a-b-'), kms());
    expect(scope.conditions('Tenant/two')).toContain('Ready=False KeyPrefixOverlap');
    expect(scope.conditions('Tenant/one')).toContain('Ready=True Ready');
    expect([...scope.runtime.running.keys()].sort()).toEqual(['keys-key-service', 'one-server']);
  });

  it('are heard again when the other one goes', async () => {
    const operator = await scope.started(prefixed('one', 'a-'), prefixed('two', 'a-b-'), kms());
    await scope.change(operator, prefixed('two', 'a-b-'), kms());
    await scope.allReady(operator);
    await scope.allReady(operator);
    expect(scope.conditions('Tenant/two')).toContain('Ready=True Ready');
  });

  it('wait until the key service admits them', async () => {
    const operator = await scope.started(prefixed('one', 'a-'), kms());
    scope.objects = [prefixed('one', 'a-'), prefixed('two', 'b-'), kms()];
    await operator.reconcile({ kind: 'Tenant', name: 'two' });
    expect(scope.runtime.told).toEqual([]);
    expect(scope.conditions('Tenant/two')).toContain('Reconciling=True KeyServiceUnavailable');
    await operator.reconcile({ kind: 'KMSConfig', name: 'keys' });
    await scope.settle(operator);
    expect(scope.runtime.told).toEqual(['start two-server']);
  });

  it('are restarted after it when both changed', async () => {
    const operator = await scope.started(prefixed('one', 'a-'), kms());
    const changed = tenant({ image: 'coffer:2', kmsConfigRef: prefixed('one', 'a-').spec.kmsConfigRef ?? {} }, 'one');
    await scope.change(operator, changed, kms({ image: 'coffer:2' }));
    expect(scope.runtime.told).toEqual(['update keys-key-service', 'replace keys-key-service-0']);
    expect(scope.conditions('Tenant/one')).toContain('RolloutBlocked=True KeyServiceUnavailable');
    await scope.allReady(operator);
    expect(scope.runtime.told.slice(2)).toEqual(['update one-server', 'replace one-server-0']);
  });
});

describe('several servers', () => {
  const storage = {
    records: { postgres: { urlSecretRef: { name: 'database', key: 'url' } } },
    blobs: { sharedVolume: { claimName: 'blobs' } },
  };
  const three = { replicas: 3, storage };

  async function rolling() {
    const operator = await scope.started(tenant(three));
    await scope.change(operator, tenant({ ...three, image: 'coffer:2' }));
    return operator;
  }

  it('are replaced one after the other, each when the one before is ready', async () => {
    const operator = await rolling();
    expect(scope.runtime.told).toEqual(['update demo-server', 'replace demo-server-2']);
    await operator.reconcile({ kind: 'Tenant', name: 'demo' });
    expect(scope.runtime.told).toHaveLength(2);
    ready('demo-server-2');
    await scope.settle(operator);
    expect(scope.runtime.told.slice(2)).toEqual(['replace demo-server-1']);
    ready('demo-server-1');
    await scope.settle(operator);
    ready('demo-server-0');
    await scope.settle(operator);
    expect(scope.runtime.told.slice(3)).toEqual(['replace demo-server-0']);
    expect(scope.conditions('Tenant/demo')).toEqual(['Ready=True Ready']);
    expect(scope.limit.held).toBe(0);
  });

  it('are never Ready while one is outdated, and the status says how far it is', async () => {
    const operator = await rolling();
    const seen: (readonly string[] | undefined)[] = [];
    for (const name of ['demo-server-2', 'demo-server-1', 'demo-server-0']) {
      seen.push(scope.conditions('Tenant/demo'));
      ready(name);
      await scope.settle(operator);
    }
    expect(seen.flat().filter((condition) => condition?.startsWith('Ready=True'))).toEqual([]);
    expect(seen.every((conditions) => conditions?.some((text) => text.startsWith('Reconciling=True')))).toBe(true);
    expect(scope.statuses.get('Tenant/demo')).toMatchObject({ servers: '3/3', health: 'Healthy', version: '1.0' });
  });

  it('tell the reason, what is updated and how many there are while they roll', async () => {
    const operator = await rolling();
    ready('demo-server-2');
    await scope.settle(operator);
    expect(scope.statuses.get('Tenant/demo')).toMatchObject({
      servers: '2/3',
      health: 'Degraded',
      rollout: { reason: 'ImageChanged: spec.image of Tenant demo', updated: 2, total: 3 },
    });
  });

  it('are not touched further when the first one breaks, and the next good spec repairs it', async () => {
    const operator = await rolling();
    scope.runtime.become('demo-server', { kind: 'broken', restarts: 3, message: 'no such image' }, 'demo-server-2');
    await scope.settle(operator);
    expect(scope.runtime.told).toHaveLength(2);
    expect(scope.conditions('Tenant/demo')).toEqual([
      'Ready=False CrashLoop',
      'Stalled=True CrashLoop',
      'RolloutBlocked=True PodNotReady',
    ]);
    expect(scope.counted).toEqual(['rollout ImageChanged', 'blocked PodNotReady']);
    await scope.change(operator, tenant({ ...three, image: 'coffer:3' }));
    expect(scope.runtime.told.slice(2)).toEqual(['update demo-server', 'replace demo-server-2']);
  });

  it('are replaced at once when their region changes, and one whose deletion fails does not keep the others', async () => {
    const operator = await scope.started(tenant(three));
    scope.runtime.failing.add('demo-server-2');
    scope.objects = [tenant({ ...three, settings: [{ name: 'SVC_REGION', value: 'eu-west-1' }] })];
    const ref = { kind: 'Tenant', name: 'demo' } as const;
    await expect(operator.reconcile(ref)).rejects.toThrow();
    expect(scope.runtime.told.slice(1)).toEqual(['replace demo-server-1', 'replace demo-server-0']);
    scope.runtime.failing.clear();
    await operator.reconcile(ref);
    expect(scope.runtime.told.slice(3)).toEqual(['replace demo-server-2']);
  });

  it('are kept while the store cannot spare one', async () => {
    const operator = await scope.started(tenant(three));
    scope.runtime.health = { healthy: false, message: 'a volume is healing' };
    await scope.change(operator, tenant({ ...three, image: 'coffer:2' }));
    expect(scope.runtime.told).toEqual(['update demo-server']);
    expect(scope.conditions('Tenant/demo')).toEqual([
      'Ready=Unknown StoreNotHealthy',
      'Reconciling=True StoreNotHealthy',
      'RolloutBlocked=True StoreNotHealthy',
    ]);
    expect(scope.later.get('Tenant/demo')).toBe(5_000);
  });
});

describe('the fleet', () => {
  it('rolls a few at a time, and goes on when one is done', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `t${index}`);
    const operator = await scope.started(...names.map((name) => tenant({}, name)));
    await scope.change(operator, ...names.map((name) => tenant({ image: 'coffer:2' }, name)));
    const replaced = () => scope.runtime.told.filter((text) => text.startsWith('replace'));
    expect(replaced()).toHaveLength(5);
    expect(scope.counted.filter((text) => text === 'blocked RolloutInProgress')).toHaveLength(2);
    const [first = ''] = replaced();
    scope.runtime.become(first.replace(/^replace (.*)-0$/, '$1'), 'ready');
    await scope.settle(operator);
    expect(replaced()).toHaveLength(6);
    for (let turn = 0; turn < 3; turn++) await scope.allReady(operator);
    expect(replaced()).toHaveLength(7);
    expect(scope.limit.held).toBe(0);
  });

  it('counts what an operator before left in mid-rollout', async () => {
    await scope.started(tenant());
    scope.runtime.become('demo-server', { kind: 'starting' });
    const second = scope.open();
    await second.start();
    expect(scope.limit.held).toBe(1);
    scope.runtime.become('demo-server', 'ready');
    await scope.settle(second);
    expect(scope.limit.held).toBe(0);
  });
});

describe('a hibernated tenant', () => {
  it('has no server, and is Ready for what was asked', async () => {
    const operator = await scope.started(tenant());
    await scope.change(operator, tenant({ hibernated: true }));
    expect(scope.statuses.get('Tenant/demo')).toMatchObject({ servers: '0/0', health: 'Hibernated' });
    expect(scope.conditions('Tenant/demo')).toEqual(['Ready=True Hibernated']);
    await scope.change(operator, tenant());
    await scope.allReady(operator);
    expect(scope.statuses.get('Tenant/demo')).toMatchObject({ servers: '1/1', health: 'Healthy' });
  });
});

describe('a key service whose key store is away', () => {
  it('says so in a condition and in one event, and stays ready', async () => {
    const operator = scope.open();
    scope.objects = [kms()];
    await operator.start();
    await scope.settle(operator);
    await scope.allReady(operator);
    const away = async (isAway: boolean) => {
      scope.runtime.keyStoreAway = isAway;
      scope.runtime.become('keys-key-service', 'ready');
      await scope.settle(operator);
      return scope.conditions('KMSConfig/keys');
    };
    const usual = ['Ready=True Ready', 'TLSReady=True Ready'];
    expect(await away(true)).toEqual([...usual, 'KeyStoreUnavailable=True KeyStoreAway']);
    expect(await away(true)).toEqual([...usual, 'KeyStoreUnavailable=True KeyStoreAway']);
    expect(await away(false)).toEqual(usual);
    expect(scope.events.filter(({ reason }) => reason === 'KeyStoreAway')).toHaveLength(1);
  });
});

describe('a key service on nodes with swap', () => {
  it('names them in a condition and in one event, and stays ready', async () => {
    const asked: string[] = [];
    const operator = scope.open({
      swapNodes: (workload) => Promise.resolve((asked.push(workload), ['node-1', 'node-2'])),
    });
    scope.objects = [kms()];
    await operator.start();
    await scope.settle(operator);
    await scope.allReady(operator);
    expect(asked[0]).toBe('keys-key-service');
    expect(scope.conditions('KMSConfig/keys')).toEqual([
      'Ready=True Ready',
      'TLSReady=True Ready',
      'SwapPossible=True NodeHasSwap',
    ]);
    const told = scope.events.filter(({ reason }) => reason === 'NodeHasSwap');
    expect(told).toMatchObject([{ type: 'Warning', ref: { kind: 'KMSConfig', name: 'keys' } }]);
    expect(told[0]?.message).toContain('node-1, node-2');
  });
});
