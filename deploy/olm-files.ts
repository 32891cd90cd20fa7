import { stringify } from 'yaml';
import { apiGroup, apiVersion } from '../operator/api/object.ts';
import {
  clusterPermissions,
  ownPermissions,
  policyRules,
  watchedPermissions,
} from '../operator/runtime/kubernetes/permissions.ts';
import { cofferKinds, type Manifest } from './render-chart.ts';
import { isHook, withoutHelm } from './kustomize-files.ts';

const head = '# Made by `npm run manifests` from charts/coffer-operator. Do not edit.\n';
const packageName = 'coffer-operator';
const channel = 'alpha';

// OLM makes the Deployment, the ServiceAccount and their Roles from the ClusterServiceVersion; it takes these beside it.
const besides = new Set(['Service', 'PodDisruptionBudget', 'NetworkPolicy']);

/** Files of `deploy/olm`, but for its CRDs, by path. `rendered`: the chart without CRDs. @see https://olm.operatorframework.io */
export function olmFiles(rendered: readonly Manifest[], version: string): ReadonlyMap<string, string> {
  const objects = rendered.filter((manifest) => !isHook(manifest)).map(withoutHelm);
  const others = objects.filter(({ kind, metadata }) => besides.has(kind) || isAggregated(metadata));
  const files = new Map([
    ['bundle.Containerfile', bundleImage()],
    ['metadata/annotations.yaml', head + stringify({ annotations: bundleAnnotations() })],
    [`manifests/${packageName}.clusterserviceversion.yaml`, head + stringify(serviceVersion(objects, version))],
  ]);
  for (const { metadata, ...object } of others) {
    // Of OLM's choice.
    const { namespace: _namespace, ...rest } = metadata;
    const name = `manifests/${metadata.name}.${object.kind.toLowerCase()}.yaml`;
    files.set(name, head + stringify({ ...object, metadata: rest }, { lineWidth: 0 }));
  }
  return files;
}

function isAggregated({ labels = {} }: Manifest['metadata']): boolean {
  return Object.keys(labels).some((name) => name.startsWith('rbac.authorization.k8s.io/aggregate-to-'));
}

function serviceVersion(objects: readonly Manifest[], version: string): Manifest & { readonly spec: unknown } {
  const deployment = objects.find(({ kind }) => kind === 'Deployment') as
    (Manifest & { readonly spec: { readonly template: { readonly spec: PodSpec } } }) | undefined;
  if (deployment === undefined) throw new TypeError('the chart renders no Deployment');
  const { serviceAccountName, containers } = deployment.spec.template.spec;
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: {
      name: `${packageName}.v${version}`,
      annotations: {
        'alm-examples': JSON.stringify(examples(), undefined, 2),
        capabilities: 'Full Lifecycle',
        categories: 'Storage, Security',
        containerImage: containers[0].image,
        description: 'Runs Coffer, an S3-compatible object store with single sign-on and encryption',
      },
    },
    spec: {
      displayName: 'Coffer',
      description:
        'An S3-compatible object store with OpenID Connect login, temporary credentials and encryption through a key service. Tenants, identity providers, key services and buckets are resources; their changes roll out one pod at a time, or are refused with a reason.',
      version,
      maturity: channel,
      minKubeVersion: '1.29.0',
      provider: { name: 'Coffer' },
      keywords: ['s3', 'object storage', 'openid connect', 'encryption'],
      installModes: ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'].map((type) => ({
        type,
        supported: type === 'AllNamespaces',
      })),
      customresourcedefinitions: {
        owned: cofferKinds.map(({ kind, plural, description }) => ({
          name: `${plural}.${apiGroup}`,
          kind,
          version: apiVersion.split('/')[1],
          displayName: kind,
          description,
        })),
      },
      install: {
        strategy: 'deployment',
        spec: {
          clusterPermissions: [
            { serviceAccountName, rules: [...policyRules(watchedPermissions), ...policyRules(clusterPermissions)] },
          ],
          permissions: [{ serviceAccountName, rules: policyRules(ownPermissions) }],
          deployments: [{ name: deployment.metadata.name, label: deployment.metadata.labels, spec: deployment.spec }],
        },
      },
    },
  };
}

interface PodSpec {
  readonly serviceAccountName: string;
  readonly containers: readonly [{ readonly image: string }];
}

function example(kind: string, name: string, spec: unknown): unknown {
  return { apiVersion, kind, metadata: { name }, spec };
}

function examples(): readonly unknown[] {
  return [
    example('KMSConfig', 'keys', { keystore: { files: { size: '1Gi' } }, defaultKey: 'default' }),
    example('IdentityProvider', 'company', {
      configUrl: 'https://sso.example.com/realms/company/.well-known/openid-configuration',
      clientId: 'coffer',
      clientSecretRef: { name: 'company-client', key: 'client-secret' },
    }),
    example('Tenant', 'demo', {
      storage: { size: '10Gi' },
      identityProviders: [{ name: 'company' }],
      kmsConfigRef: { name: 'keys' },
    }),
  ];
}

function bundleAnnotations(): Readonly<Record<string, string>> {
  const prefix = 'operators.operatorframework.io.bundle';
  return {
    [`${prefix}.mediatype.v1`]: 'registry+v1',
    [`${prefix}.manifests.v1`]: 'manifests/',
    [`${prefix}.metadata.v1`]: 'metadata/',
    [`${prefix}.package.v1`]: packageName,
    [`${prefix}.channels.v1`]: channel,
    [`${prefix}.channel.default.v1`]: channel,
  };
}

/** The bundle's own image holds only files. */
function bundleImage(): string {
  const labels = Object.entries(bundleAnnotations()).map(([name, value]) => `LABEL ${name}=${value}`);
  return `${head}FROM scratch\n${labels.join('\n')}\nCOPY manifests /manifests/\nCOPY metadata /metadata/\n`;
}
