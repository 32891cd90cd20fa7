import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wellBehaved } from '../support/kubernetes/pod-status.ts';
import { identityProvider, keyService, secret, sharedStore, tenantOfSeveral } from '../support/operator/manifests.ts';
import { condition, eventsOf, imageOf, inputsOf, isReady, podsOf, uidsOf } from '../support/operator/read-cluster.ts';
import { Stage } from '../support/operator/stage.ts';
import { watchDisruptions } from '../support/operator/watch-disruptions.ts';

const demo = { kind: 'Tenant', name: 'demo' } as const;
const other = { kind: 'Tenant', name: 'other' } as const;
const keys = { kind: 'KMSConfig', name: 'keys' } as const;
const encrypted = { kmsConfigRef: { name: 'keys' } };

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.set(sharedStore());
});
afterEach(async () => {
  expect(await stage.strike()).toEqual([]);
});

describe('a rollout', () => {
  it('takes one pod at a time, the next when the last is ready (complaints 1, 3, 4)', async () => {
    await stage.settle(tenantOfSeveral('demo', 3));
    const disruptions = watchDisruptions(stage.double);
    stage.holdReadiness('coffer:2');
    stage.put(tenantOfSeveral('demo', 3, { image: 'coffer:2' }));
    await stage.until(() => stage.images()[2] === 'coffer:2', 'the last pod is new');
    await stage.says(demo, 'Reconciling', 'ImageChanged');
    expect(disruptions.deleted).toEqual(['demo-server-2']);
    stage.behaveWell();
    await stage.current(demo);
    expect(stage.images()).toEqual(['coffer:2', 'coffer:2', 'coffer:2']);
    expect(disruptions.deleted).toEqual(['demo-server-2', 'demo-server-1', 'demo-server-0']);
    expect(disruptions.maxConcurrent).toBe(1);
  });

  it('tells its reason by an event', async () => {
    await stage.settle(tenantOfSeveral('demo', 2));
    await stage.settle(tenantOfSeveral('demo', 2, { image: 'coffer:2' }));
    await stage.tells(demo, 'ImageChanged');
  });

  it('follows a Secret that the resource names (complaint 2)', async () => {
    await stage.settle(tenantOfSeveral('demo', 3));
    const disruptions = watchDisruptions(stage.double);
    const before = new Set(podsOf(stage.double, 'demo-server').map(inputsOf));
    stage.put(secret('database', { url: 'postgres://coffer:changed@database/coffer' }));
    const isNew = (): boolean => podsOf(stage.double, 'demo-server').every((pod) => !before.has(inputsOf(pod)));
    await stage.until(isNew, 'all pods have it');
    await stage.current(demo);
    expect(disruptions.maxConcurrent).toBe(1);
    await stage.tells(demo, 'SecretChanged');
  });

  it('of a bad image stops at the first pod, and is repaired by the next good spec (complaint 4)', async () => {
    await stage.settle(tenantOfSeveral('demo', 3));
    stage.put(tenantOfSeveral('demo', 3, { image: 'bad:2' }));
    await stage.says(demo, 'RolloutBlocked', 'PodNotReady');
    expect(stage.images()).toEqual(['coffer:1', 'coffer:1', 'bad:2']);
    await stage.settle(tenantOfSeveral('demo', 3, { image: 'coffer:3' }));
    expect(stage.images()).toEqual(['coffer:3', 'coffer:3', 'coffer:3']);
  });

  it('of a crashing program is repaired too', async () => {
    await stage.settle(tenantOfSeveral('demo', 2));
    stage.double.behave((pod) =>
      imageOf(pod) === 'coffer:2' ? { kind: 'crash-loop', restarts: 4, message: 'no such setting' } : wellBehaved(pod),
    );
    stage.put(tenantOfSeveral('demo', 2, { image: 'coffer:2' }));
    await stage.says(demo, 'RolloutBlocked', 'PodNotReady');
    expect(condition(stage.double, demo, 'Ready')).toMatchObject({ status: 'False', reason: 'CrashLoop' });
    await stage.settle(tenantOfSeveral('demo', 2, { image: 'coffer:3' }));
  });

  it('waits until the store can spare a server', async () => {
    await stage.settle(tenantOfSeveral('demo', 2));
    stage.storeStatus = 503;
    stage.put(tenantOfSeveral('demo', 2, { image: 'coffer:2' }));
    await stage.says(demo, 'RolloutBlocked', 'StoreNotHealthy');
    expect(stage.images()).toEqual(['coffer:1', 'coffer:1']);
    stage.storeStatus = 200;
    await stage.current(demo);
    expect(stage.images()).toEqual(['coffer:2', 'coffer:2']);
  });

  it('waits for a place in the fleet', async () => {
    await stage.stopOperator();
    await stage.startOperator({ maxConcurrentRollouts: 1 });
    await stage.settle(tenantOfSeveral('demo', 2), tenantOfSeveral('other', 2));
    stage.holdReadiness('coffer:2');
    stage.put(tenantOfSeveral('demo', 2, { image: 'coffer:2' }));
    await stage.until(() => stage.images().includes('coffer:2'), 'the first begins');
    stage.put(tenantOfSeveral('other', 2, { image: 'coffer:2' }));
    await stage.says(other, 'RolloutBlocked', 'RolloutInProgress');
    expect(stage.images('other-server')).toEqual(['coffer:1', 'coffer:1']);
    stage.behaveWell();
    await stage.current(demo, other);
  });

  it('takes the key service first, and waits until it is ready', async () => {
    await stage.settle(keyService('keys'), tenantOfSeveral('demo', 2, encrypted));
    stage.double.behave((pod) => {
      const isKeyService = pod.metadata.labels?.['coffer.dev/workload'] === 'keys-key-service';
      return isKeyService && imageOf(pod) === 'coffer:2' ? { kind: 'not-ready' } : wellBehaved(pod);
    });
    stage.put(keyService('keys', { image: 'coffer:2' }));
    await stage.until(() => stage.images('keys-key-service')[0] === 'coffer:2', 'the key service is new');
    stage.put(tenantOfSeveral('demo', 2, { ...encrypted, image: 'coffer:2' }));
    await stage.says(demo, 'RolloutBlocked', 'KeyServiceUnavailable');
    expect(stage.images()).toEqual(['coffer:1', 'coffer:1']);
    stage.behaveWell();
    await stage.current(keys, demo);
    expect(stage.images()).toEqual(['coffer:2', 'coffer:2']);
  });

  it('of a key service of three takes one at a time', async () => {
    await stage.settle(keyService('keys', { replicas: 3 }));
    const disruptions = watchDisruptions(stage.double);
    await stage.settle(keyService('keys', { replicas: 3, image: 'coffer:2' }));
    expect([disruptions.maxConcurrent, disruptions.deleted.length]).toEqual([1, 3]);
  });

  it('goes on after a restart of the operator in its middle', async () => {
    await stage.settle(tenantOfSeveral('demo', 3));
    const disruptions = watchDisruptions(stage.double);
    stage.holdReadiness('coffer:2');
    stage.put(tenantOfSeveral('demo', 3, { image: 'coffer:2' }));
    await stage.until(() => stage.images()[2] === 'coffer:2', 'the last pod is new');
    await stage.stopOperator();
    stage.behaveWell();
    await stage.until(() => podsOf(stage.double, 'demo-server').every(isReady), 'all are ready');
    await stage.startOperator();
    await stage.until(() => stage.images().every((image) => image === 'coffer:2'), 'all are new');
    await stage.current(demo);
    expect(disruptions.maxConcurrent).toBe(1);
  });
});

const isUpgrade = /^ImageChanged: restarts for spec\.image of Tenant demo \(.+ to coffer:2\)/;

describe('an operator that starts again', () => {
  it('restarts nothing, and writes nothing but the checks of providers (complaint 5)', async () => {
    const spec = { ...encrypted, identityProviders: [{ name: 'idp' }] };
    await stage.settle(
      secret('client', { secret: 'x' }),
      keyService('keys'),
      identityProvider('idp'),
      tenantOfSeveral('demo', 2, spec),
    );
    const [before, written] = [servers(), everyVersion()];
    await stage.stopOperator();
    await stage.startOperator();
    await stage.reconciles(3);
    expect([servers(), everyVersion()]).toEqual([before, written]);
  });

  it('with another default image restarts what names none, for a reason that names both', async () => {
    await stage.settle(
      keyService('keys', { image: undefined }),
      tenantOfSeveral('demo', 2, { ...encrypted, image: undefined }),
    );
    const before = servers();
    await stage.stopOperator();
    await stage.startOperator({ image: 'coffer:2' });
    await stage.until(
      () => eventsOf(stage.double, demo).some((event) => isUpgrade.test(event)),
      'both images are told',
    );
    await stage.current(keys, demo);
    expect(servers().filter((uid) => before.includes(uid))).toEqual([]);
  });

  it('writes nothing at all for tenants and key services alone (complaint 5)', async () => {
    await stage.settle(keyService('keys'), tenantOfSeveral('demo', 2, encrypted));
    const before = servers();
    await stage.stopOperator();
    stage.double.requests.reset();
    await stage.startOperator();
    await stage.reconciles(2);
    expect([stage.double.requests.writes, stage.double.requests.lastWrites]).toEqual([0, []]);
    expect(servers()).toEqual(before);
  });
});

function servers(): readonly unknown[] {
  return uidsOf([...podsOf(stage.double, 'demo-server'), ...podsOf(stage.double, 'keys-key-service')]);
}

/** Of the objects that no check of a provider makes. */
function everyVersion(): readonly string[] {
  const resources = ['statefulsets.apps', 'services', 'networkpolicies.networking.k8s.io', 'tenants.coffer.dev'];
  return resources.flatMap((resource) =>
    stage.double.list(resource).map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`),
  );
}
