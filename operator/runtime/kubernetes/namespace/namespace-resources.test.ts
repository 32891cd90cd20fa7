import { describe, expect, it } from 'vitest';
import { Namespace, tenant } from '../../../../test/support/operator/reconciler-harness.ts';
import { checkPodOptions, NamespaceResources } from './namespace-resources.ts';
import type { KubeObject, ResourceType } from '../../../kube-client/kube-api.ts';
import { ResourceCache } from '../../../kube-client/resource-cache.ts';
import { resourceTypes } from '../../../kube-client/resource-types.ts';
import type { ResourceKind } from '../../../contract/workload.ts';

const uses = { identityProviders: [{ name: 'staff' }] };

function optionsWith(...tenants: readonly ReturnType<typeof tenant>[]) {
  const scope = new Namespace();
  scope.objects = tenants;
  return checkPodOptions('staff', scope.resources());
}

describe('the pod that checks a provider', () => {
  it('runs as servers of the first tenant by name that uses it', () => {
    const options = optionsWith(
      tenant({ ...uses, serviceAccountName: 'of-c' }, 'c'),
      tenant({ ...uses, serviceAccountName: 'of-b' }, 'b'),
      tenant({ serviceAccountName: 'of-none' }, 'a'),
    );
    expect(options?.serviceAccountName).toBe('of-b');
  });
  it('runs plainly where no tenant uses it', () => {
    expect(optionsWith(tenant({}))).toBeUndefined();
  });
});

const cache = (type: ResourceType) =>
  new ResourceCache(type, {
    failed: (error) => {
      throw error;
    },
  });

function start() {
  const buckets = cache(resourceTypes.bucket);
  const none = cache(resourceTypes.tenant);
  const sources = {
    buckets,
    resources: (kind: ResourceKind) => (kind === 'Bucket' ? buckets : none),
    secrets: cache(resourceTypes.secret),
    configMaps: cache(resourceTypes.configMap),
  };
  return { sources, resources: new NamespaceResources('red', sources) };
}

let version = 0;
function bucket(spec: object, more: object = {}): KubeObject {
  version += 1;
  return {
    apiVersion: 'coffer.dev/v1alpha1',
    kind: 'Bucket',
    metadata: {
      name: 'photos',
      namespace: 'red',
      uid: 'u',
      resourceVersion: String(version),
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...more,
    },
    spec,
  };
}
const secret = (value: string, resourceVersion: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'red', resourceVersion },
  data: { key: Buffer.from(value).toString('base64') },
});
const good = { tenantRef: { name: 'demo' }, deletionPolicy: 'Retain' };

describe('NamespaceResources', () => {
  it('gives what the API server has, without what that adds to it', () => {
    const { sources, resources } = start();
    sources.buckets.take(bucket(good));
    expect(resources.update('Bucket', 'photos')?.after).toMatchObject({ metadata: { name: 'photos' }, spec: good });
    expect(resources.resources().managed.get('Bucket/photos')?.spec).toEqual(good);
  });

  it('passes over what a newer CRD has beside the fields known here', () => {
    const { sources, resources } = start();
    const newer = { ...good, tenantRef: { name: 'demo', later: 1 }, quota: { size: '1Gi' } };
    sources.buckets.take(bucket(newer));
    expect(resources.update('Bucket', 'photos')?.after).toMatchObject({ spec: good });
    expect(resources.resources().invalid.size).toBe(0);
  });

  it('keeps the last good state of what is refused, and says why', () => {
    const { sources, resources } = start();
    sources.buckets.take(bucket(good));
    resources.update('Bucket', 'photos');
    sources.buckets.take(bucket({ ...good, deletionPolicy: 'Forget' }, { generation: 2 }));
    resources.update('Bucket', 'photos');
    const { managed, invalid } = resources.resources();
    expect(managed.get('Bucket/photos')?.spec).toEqual(good);
    expect(invalid.get('Bucket/photos')).toMatch(/^spec\.deletionPolicy: /);
  });

  it('sees no change where only the status changed', () => {
    const { sources, resources } = start();
    sources.buckets.take(bucket(good));
    resources.update('Bucket', 'photos');
    sources.buckets.take({ ...bucket(good), status: { observedGeneration: 1 } });
    expect(resources.update('Bucket', 'photos')).toBeUndefined();
  });

  it('sees the beginning and the end of a deletion', () => {
    const { sources, resources } = start();
    sources.buckets.take(bucket(good));
    resources.update('Bucket', 'photos');
    sources.buckets.take(bucket(good, { deletionTimestamp: '2026-01-01T00:00:00Z' }));
    expect(resources.update('Bucket', 'photos')).toBeDefined();
    expect(resources.resources().deleting).toEqual(new Set(['Bucket/photos']));
    sources.buckets.deleted('red', 'photos');
    expect(resources.update('Bucket', 'photos')).toMatchObject({ after: undefined });
    expect(resources.isEmpty).toBe(true);
  });

  it('decodes Secrets, and takes new values when it is told', () => {
    const { sources, resources } = start();
    sources.secrets.take(secret('one', '1'));
    expect({ ...resources.resources().secrets.get('s') }).toEqual({
      name: 's',
      namespace: 'red',
      uses: new Set(),
      data: { key: 'one' },
    });
    sources.secrets.take(secret('two', '2'));
    resources.invalidate();
    expect(resources.resources().secrets.get('s')?.data).toEqual({ key: 'two' });
  });

  it('knows nothing of other namespaces', () => {
    const { sources, resources } = start();
    sources.buckets.take(bucket(good, { namespace: 'blue' }));
    resources.update('Bucket', 'photos');
    expect(resources.isEmpty).toBe(true);
  });
});
