import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../operator/kube-client/kube-api.ts';
import {
  identityProvider,
  keyService,
  secret,
  sharedStore,
  tenant,
  tenantOfSeveral,
} from '../support/operator/manifests.ts';
import { condition, isCurrent, podsOf } from '../support/operator/read-cluster.ts';
import { Stage } from '../support/operator/stage.ts';

const demo = { kind: 'Tenant', name: 'demo' } as const;

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.set(sharedStore());
});
afterEach(async () => {
  expect(await stage.strike()).toEqual([]);
});

describe('what the operator makes', () => {
  it('carries no label of the resource (complaint 18)', async () => {
    const labels = { 'app.kubernetes.io/instance': 'argo-app', 'argocd.argoproj.io/instance': 'argo-app' };
    const annotations = { 'argocd.argoproj.io/tracking-id': 'argo-app:Tenant:demo' };
    const labelled = tenantOfSeveral('demo', 2);
    await stage.settle({ ...labelled, metadata: { ...labelled.metadata, labels, annotations } });
    const copied = everything().filter((object) => JSON.stringify(object).includes('argo-app'));
    expect(copied.map(nameOf)).toEqual([]);
  });

  it('is the same after TLS was turned on and off again (complaint 21)', async () => {
    await stage.settle(tenantOfSeveral('demo', 2));
    const before = names();
    await stage.settle(tenantOfSeveral('demo', 2, { tls: { operatorMade: true } }));
    expect(names()).not.toEqual(before);
    await stage.settle(tenantOfSeveral('demo', 2));
    const more = (): readonly string[] => names().filter((name) => !before.includes(name));
    await stage.until(() => more().length === 0, 'nothing is left of TLS').catch(() => undefined);
    expect(names()).toEqual(before);
  });

  it('asks for no certificate signed by the cluster (complaint 9)', async () => {
    await stage.settle(tenantOfSeveral('demo', 2, { tls: { operatorMade: true } }));
    const asked = [...stage.double.requests.byKind.keys()].filter((key) => key.includes('certificates.k8s.io'));
    expect(asked).toEqual([]);
  });

  it('lets a drain take one of several pods, and the only one of one (complaint 12)', async () => {
    await stage.settle(tenantOfSeveral('demo', 3), tenant('single'));
    stage.double.holdTermination(() => true);
    expect(['demo-server-0', 'demo-server-1', 'single-server-0'].map(evict)).toEqual([true, false, true]);
    stage.double.holdTermination(() => false);
    await stage.current(demo);
  });

  it('is collected when the resource is deleted while the operator is away (complaint 13)', async () => {
    await stage.settle(tenantOfSeveral('demo', 2, { tls: { operatorMade: true }, reclaimPolicy: 'Delete' }));
    await stage.stopOperator();
    stage.double.delete('tenants.coffer.dev', 'default', 'demo');
    await stage.until(() => names().every((name) => !name.includes(' demo')), 'nothing is left of the tenant');
  });

  it('does not keep its namespace from going (complaint 13)', async () => {
    stage.double.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    await stage.settle(...sharedStore('team'), tenantOfSeveral('demo', 2, {}, 'team'));
    stage.double.delete('namespaces', undefined, 'team');
    await stage.until(() => stage.double.get('namespaces', undefined, 'team') === undefined, 'the namespace is gone');
    expect(everything('team')).toEqual([]);
  });

  it('keeps volumes where the resource says so, and takes them along where it says so (complaint 13)', async () => {
    await stage.settle(tenant('kept'), tenant('dropped', { reclaimPolicy: 'Delete' }));
    for (const name of ['kept', 'dropped']) stage.double.delete('tenants.coffer.dev', 'default', name);
    await stage.until(() => podsOf(stage.double, 'dropped-server').length === 0, 'the pods are gone');
    const claims = (): readonly string[] => stage.double.list('persistentvolumeclaims').map(nameOf);
    await stage.until(() => claims().every((name) => !name.includes('dropped')), 'the volume is gone');
    expect(claims().filter((name) => name.includes('kept'))).toHaveLength(1);
  });

  it('never has a pod wait for a Secret that is not there yet (complaint 20)', async () => {
    const waited: string[] = [];
    const end = stage.double.onChange((_before, after) => {
      if (after?.kind !== 'Pod') return;
      if (JSON.stringify(after['status']).includes('MountVolume.SetUp failed')) waited.push(nameOf(after));
    });
    const whole = {
      kmsConfigRef: { name: 'keys' },
      identityProviders: [{ name: 'idp' }],
      tls: { operatorMade: true },
    };
    await stage.settle(secret('client', { secret: 'x' }), identityProvider('idp'), keyService('keys'));
    await stage.settle(tenantOfSeveral('demo', 2, whole));
    await stage.settle(tenantOfSeveral('demo', 2, { ...whole, image: 'coffer:2' }));
    end();
    expect(waited).toEqual([]);
  });
});

describe('a cluster without Prometheus and cert-manager', () => {
  it('runs tenants all the same (complaint 14)', async () => {
    const bare = await Stage.set([], {
      absentResources: ['servicemonitors.monitoring.coreos.com', 'certificates.cert-manager.io'],
    });
    bare.put(tenant('demo', { monitoring: { serviceMonitor: {} } }));
    await bare.until(
      () => isCurrent(bare.double, demo) || condition(bare.double, demo, 'Stalled') !== undefined,
      'it settles',
    );
    expect(podsOf(bare.double, 'demo-server')).toHaveLength(1);
    expect(condition(bare.double, demo, 'Ready')).toMatchObject({ status: 'True' });
    expect(condition(bare.double, demo, 'MonitoringReady')).toMatchObject({ status: 'False', reason: 'KindUnknown' });
    expect(await bare.strike()).toEqual([]);
  });
});

describe('a cluster without cert-manager', () => {
  it.each(['Tenant', 'KMSConfig'] as const)('says so of a %s that names an issuer', async (kind) => {
    const bare = await Stage.set([], { absentResources: ['certificates.cert-manager.io'] });
    const certManager = { issuerRef: { kind: 'ClusterIssuer', name: 'corporate' } } as const;
    const resource = { kind, name: 'demo', namespace: 'default' } as const;
    bare.put(
      kind === 'Tenant'
        ? tenant('demo', { tls: { certManager } })
        : keyService('demo', { certificates: { certManager } }),
    );
    await bare.says(resource, 'Stalled', 'KindUnknown');
    expect(condition(bare.double, resource, 'Stalled')?.message).toMatch(/install cert-manager/);
    expect(await bare.strike()).toEqual([]);
  });
});

const made = [
  'statefulsets.apps',
  'pods',
  'secrets',
  'services',
  'serviceaccounts',
  'poddisruptionbudgets.policy',
  'networkpolicies.networking.k8s.io',
  'ingresses.networking.k8s.io',
  'servicemonitors.monitoring.coreos.com',
  'certificates.cert-manager.io',
];

function everything(namespace = 'default'): readonly KubeObject[] {
  return made.flatMap((resource) => stage.double.list(resource, namespace));
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`;
}

function names(): readonly string[] {
  return everything().map(nameOf);
}

function evict(name: string): boolean {
  try {
    stage.double.evict('default', name);
    return true;
  } catch {
    return false;
  }
}
