import { secretUses, useLabel } from '../../../operator/contract/secret.ts';
import type { KubernetesDouble } from '../kubernetes/kubernetes-double.ts';
import { isCurrent, type Resource } from './read-cluster.ts';

/** Manifests as a person would commit them, small. `spec` is laid over what is needed. */

const apiVersion = 'coffer.dev/v1alpha1';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

const standard = { image: 'coffer:1', storage: { size: '10Gi' } };

export function tenant(name: string, spec: object = {}, namespace = 'default'): Manifest {
  return { apiVersion, kind: 'Tenant', metadata: { name, namespace }, spec: { ...standard, ...spec } };
}

/** Of several servers, which need a store that they share. */
export function tenantOfSeveral(name: string, replicas: number, spec: object = {}, namespace = 'default'): Manifest {
  const storage = {
    records: { postgres: { urlSecretRef: { name: 'database', key: 'url' } } },
    blobs: { sharedVolume: { claimName: 'blobs' } },
  };
  return tenant(name, { replicas, storage, ...spec }, namespace);
}

/** What `tenantOfSeveral` refers to. */
export function sharedStore(namespace = 'default'): readonly Manifest[] {
  return [
    secret('database', { url: 'postgres://coffer:secret@database/coffer' }, namespace),
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'blobs', namespace },
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
    },
  ];
}

export function identityProvider(name: string, spec: object = {}, namespace = 'default'): Manifest {
  return {
    apiVersion,
    kind: 'IdentityProvider',
    metadata: { name, namespace },
    spec: {
      configUrl: 'https://id.example.com/.well-known/openid-configuration',
      clientId: 'coffer',
      clientSecretRef: { name: 'client', key: 'secret' },
      ...spec,
    },
  };
}

export function keyService(name: string, spec: object = {}, namespace = 'default'): Manifest {
  return {
    apiVersion,
    kind: 'KMSConfig',
    metadata: { name, namespace },
    spec: { image: 'coffer:1', keystore: { files: { size: '1Gi' } }, defaultKey: 'main', ...spec },
  };
}

/** One that may be used for everything. */
export function secret(name: string, data: Readonly<Record<string, string>>, namespace = 'default'): Manifest {
  const labels = Object.fromEntries(secretUses.map((use) => [useLabel(use), 'true']));
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels }, stringData: data };
}

/** Tenants of one namespace that share an identity provider. */
export function fleet(size: number): {
  readonly manifests: readonly Manifest[];
  readonly resources: readonly Resource[];
} {
  const names = Array.from({ length: size }, (_, index) => `tenant-${String(index).padStart(3, '0')}`);
  const spec = { identityProviders: [{ name: 'idp' }] };
  return {
    manifests: [secret('client', { secret: 'x' }), identityProvider('idp'), ...names.map((name) => tenant(name, spec))],
    resources: names.map((name) => ({ kind: 'Tenant', name })),
  };
}

export function allCurrent(double: KubernetesDouble, resources: readonly Resource[]): boolean {
  return resources.every((resource) => isCurrent(double, resource));
}

/** Resolves when the API server was asked for nothing in `milliseconds`. */
export async function quiet(double: KubernetesDouble, milliseconds = 1_500): Promise<void> {
  let asked = -1;
  while (asked !== double.requests.requests) {
    asked = double.requests.requests;
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
  }
}
