import { kmsConfigSpec } from '../api/kms-config.ts';
import type { KMSConfig, Tenant } from '../api/object.ts';
import {
  listen,
  mounted,
  text,
  type DocumentNode,
  type Mount,
  type RestartInput,
  type RestartReason,
  type Workload,
} from '../workload.ts';
import { keyServiceCertificate, keyServiceClientCertificate } from './certificates.ts';
import { standardOptions } from './kubernetes-options.ts';
import { overlappingPrefixes, tenantKeyPaths } from './key-policy.ts';
import { RenderProblem, secretValue, workloadName, type RenderContext } from './render-context.ts';
import { canonical, secretInput, specInputs } from './restart-inputs.ts';

const restartless = new Set(['replicas']);

/** The key service of a KMSConfig, with a policy for each tenant that uses it. Errors with `RenderProblem`. */
export function renderKeyService(kms: KMSConfig, tenants: readonly Tenant[], context: RenderContext): Workload {
  const { name } = kms.metadata;
  const owner = { kind: 'KMSConfig', name } as const;
  const users = admittedTenants(name, tenants);
  const files = mounted('config', 'keysvc.yaml');
  return {
    name: workloadName(owner),
    owner,
    program: 'keysvc',
    ...(kms.spec.image === undefined ? {} : { image: kms.spec.image }),
    arguments: [text`server`, text`--config`, text`${files}`],
    environment: [],
    ports: [
      {
        name: 'api',
        host: kms.spec.address.host,
        port: kms.spec.address.port,
        field: `spec.address.port of KMSConfig ${name}`,
      },
    ],
    mounts: [
      {
        kind: 'files',
        name: 'config',
        files: [
          {
            path: 'keysvc.yaml',
            content: { kind: 'yaml', document: configuration(kms, users, context) },
            reloads: false,
          },
        ],
      },
      certificateMount(name),
      ...keyVolume(kms),
    ],
    // Open to everyone by the configuration: it tells nothing but whether the keystore answers.
    readiness: { kind: 'http', port: 'api', path: '/v1/ready', tls: true },
    liveness: { kind: 'connect', port: 'api' },
    dependsOn: [],
    replicas: kms.spec.replicas,
    kubernetes: standardOptions(kms.spec.replicas),
    inputs: inputs(kms, users, context),
  };
}

/** The tenants whose policies the key service carries; of two with overlapping prefixes only the first. */
function admittedTenants(kms: string, tenants: readonly Tenant[]): readonly Tenant[] {
  const users = tenants.filter(({ spec }) => spec.kmsConfigRef?.name === kms);
  const overlapping = overlappingTenants(users);
  return users.filter(({ metadata }) => !overlapping.has(metadata.name));
}

/** Tenants that must not use their key service, each with the tenant that it would share keys with. */
export function overlappingTenants(users: readonly Tenant[]): ReadonlyMap<string, string> {
  return overlappingPrefixes(
    users.map(({ metadata, spec }) => ({ name: metadata.name, keyPrefix: spec.kmsConfigRef?.keyPrefix ?? '' })),
  );
}

function configuration(kms: KMSConfig, users: readonly Tenant[], context: RenderContext): DocumentNode {
  const { spec } = kms;
  return {
    version: 'v1',
    address: text`${listen('api')}`,
    root: 'disabled',
    tls: {
      cert: text`${mounted('certificates', 'tls.crt')}`,
      key: text`${mounted('certificates', 'tls.key')}`,
      ca: text`${mounted('certificates', 'ca.crt')}`,
      auth: 'on',
    },
    api: { '/v1/ready': { skip_auth: true } },
    policy: Object.fromEntries<DocumentNode>([
      ...users.map((tenant) => [`tenant-${tenant.metadata.name}`, tenantPolicy(tenant, context)] as const),
      ...(spec.policies ?? []).map(
        ({ name, allow, deny, identities }) =>
          [name, { allow, ...(deny === undefined ? {} : { deny }), identities }] as const,
      ),
    ]),
    keys: keyNames(kms, users).map((name) => ({ name })),
    ...(spec.cache === undefined ? {} : { cache: { expiry: defined(spec.cache) } }),
    log: { error: 'on', audit: 'on' },
    keystore: keystore(kms, context),
  };
}

function defined(values: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

function tenantPolicy(tenant: Tenant, context: RenderContext): DocumentNode {
  const { name } = tenant.metadata;
  const certificate = context.certificates.get(keyServiceClientCertificate(name));
  if (certificate === undefined) {
    throw new RenderProblem('CertificateMissing', `the client certificate of Tenant ${name} is not made yet`);
  }
  return { allow: tenantKeyPaths(tenant.spec.kmsConfigRef?.keyPrefix ?? ''), identities: [certificate.identity] };
}

function keyNames(kms: KMSConfig, users: readonly Tenant[]): readonly string[] {
  const own = users.flatMap(({ spec }) => spec.kmsConfigRef?.defaultKey ?? []);
  return [...new Set([kms.spec.defaultKey, ...own, ...(kms.spec.keys ?? []).map(({ name }) => name)])];
}

function keystore(kms: KMSConfig, context: RenderContext): DocumentNode {
  const { azure } = kms.spec.keystore;
  if (azure === undefined) return { fs: { path: text`${mounted('keys')}` } };
  const { name, key } = azure.clientSecretRef;
  secretValue(context.secrets, azure.clientSecretRef, azureField(kms));
  return {
    azure: {
      keyvault: {
        endpoint: azure.endpoint,
        credentials: {
          tenant_id: azure.tenantId,
          client_id: azure.clientId,
          client_secret: { kind: 'secret', secret: name, key },
        },
      },
    },
  };
}

function azureField(kms: KMSConfig): string {
  return `spec.keystore.azure.clientSecretRef of KMSConfig ${kms.metadata.name}`;
}

function certificateMount(kms: string): Mount {
  const certificate = keyServiceCertificate(kms);
  const file = (path: string, part: 'certificate' | 'key' | 'ca') =>
    ({ path, content: { kind: 'certificate', certificate, part }, reloads: true }) as const;
  return {
    kind: 'files',
    name: 'certificates',
    files: [file('tls.crt', 'certificate'), file('tls.key', 'key'), file('ca.crt', 'ca')],
  };
}

function keyVolume({ spec }: KMSConfig): readonly Mount[] {
  const { files } = spec.keystore;
  if (files === undefined) return [];
  return [
    {
      kind: 'volume',
      name: 'keys',
      ...(files.size === undefined ? {} : { size: files.size }),
      ...(files.path === undefined ? {} : { path: files.path }),
      claim: { kind: 'shared', accessMode: 'ReadWriteOnce' },
    },
  ];
}

function reasonOf(field: string): RestartReason | undefined {
  if (restartless.has(field)) return undefined;
  return field === 'image' ? 'ImageChanged' : 'KMSConfigChanged';
}

function inputs(kms: KMSConfig, users: readonly Tenant[], context: RenderContext): readonly RestartInput[] {
  const of = { kind: 'KMSConfig', name: kms.metadata.name } as const;
  const { azure } = kms.spec.keystore;
  return [
    ...specInputs(kmsConfigSpec, kms.spec, of, reasonOf, context),
    ...(azure === undefined
      ? []
      : [
          secretInput(
            azure.clientSecretRef,
            secretValue(context.secrets, azure.clientSecretRef, azureField(kms)),
            context,
          ),
        ]),
    ...users.flatMap((tenant) => tenantInputs(tenant, context)),
  ];
}

function tenantInputs(tenant: Tenant, context: RenderContext): readonly RestartInput[] {
  const of = { kind: 'Tenant', name: tenant.metadata.name } as const;
  const identity = context.certificates.get(keyServiceClientCertificate(of.name))?.identity ?? '';
  return [
    {
      reason: 'TenantChanged',
      field: 'spec.kmsConfigRef',
      of,
      fingerprint: context.fingerprint(canonical(tenant.spec.kmsConfigRef)),
    },
    {
      reason: 'CertificateIdentityChanged',
      field: 'identity of its client certificate',
      of,
      fingerprint: context.fingerprint(identity),
    },
  ];
}
