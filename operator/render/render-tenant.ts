import type { KMSConfig, Tenant } from '../api/object.ts';
import { restartAnnotation, tenantSpec } from '../api/tenant.ts';
import {
  address,
  listen,
  mounted,
  text,
  type EnvironmentVariable,
  type Mount,
  type MountedFile,
  type RestartInput,
  type RestartReason,
  type Workload,
} from '../workload.ts';
import { keyServiceClientCertificate } from './certificates.ts';
import { byName, secretFileVariable, variable } from './environment.ts';
import { standardOptions } from './kubernetes-options.ts';
import { RenderProblem, secretValue, workloadName, type RenderContext } from './render-context.ts';
import { renderIdentityProvider, type AcceptedProvider } from './render-identity-provider.ts';
import { canonical, secretInput, specInputs } from './restart-inputs.ts';
import { renderSettings } from './tenant-settings.ts';

export interface TenantParts {
  /** Those that were checked and may be used, in the order of the spec. */
  readonly providers: readonly AcceptedProvider[];
  readonly kms?: KMSConfig;
  /** Secret with rootUser and rootPassword: the Tenant's own, or the one that the operator made. */
  readonly rootSecret: string;
}

/** Names that no `spec.settings` may carry: the operator renders them. */
const rendered = [
  'SVC_ADDRESS',
  'SVC_CONSOLE_ADDRESS',
  'SVC_VOLUMES',
  'SVC_TLS_CERT_FILE',
  'SVC_TLS_KEY_FILE',
] as const;
const renderedWithKms = [
  'SVC_KMS_KEYSVC_ENDPOINT',
  'SVC_KMS_KEYSVC_KEY_NAME',
  'SVC_KMS_KEYSVC_CERT_FILE',
  'SVC_KMS_KEYSVC_KEY_FILE',
  'SVC_KMS_KEYSVC_CAPATH',
  'SVC_KMS_KEYSVC_API_KEY',
] as const;

/** The storage server of a Tenant. Errors with `RenderProblem`. */
export function renderTenant(tenant: Tenant, parts: TenantParts, context: RenderContext): Workload {
  const { name } = tenant.metadata;
  const { spec } = tenant;
  const owner = { kind: 'Tenant', name } as const;
  const reserved = new Set<string>([...rendered, ...(parts.kms === undefined ? [] : renderedWithKms)]);
  const providers = parts.providers.map((provider) => renderIdentityProvider(provider, 'identity', context));
  const settings = renderSettings(tenant, reserved, 'settings', context);
  const root = rootCredentials(tenant, parts.rootSecret, context);
  const keyService = keyServiceParts(tenant, parts.kms, context);
  const tls = tlsParts(tenant, context);
  return {
    name: workloadName(owner),
    owner,
    program: 'coffer-server',
    ...(spec.image === undefined ? {} : { image: spec.image }),
    arguments: [
      text`${mounted('data')}`,
      text`--address`,
      text`${listen('s3')}`,
      text`--console-address`,
      text`${listen('console')}`,
    ],
    environment: [
      ...root.environment,
      ...keyService.environment,
      ...tls.environment,
      ...settings.environment,
      ...providers.flatMap((provider) => provider.environment),
    ].sort(byName),
    ports: (['s3', 'console'] as const).map((port) => ({
      name: port,
      ...spec.addresses[port],
      field: `spec.addresses.${port}.port of Tenant ${name}`,
    })),
    mounts: [
      dataVolume(tenant),
      ...files('root', root.files),
      ...files('key-service', keyService.files),
      ...files('tls', tls.files),
      ...files('settings', settings.files),
      ...files(
        'identity',
        providers.flatMap((provider) => provider.files),
      ),
    ],
    readiness: { kind: 'http', port: 's3', path: '/minio/health/ready', tls: spec.tls !== undefined },
    liveness: { kind: 'http', port: 's3', path: '/minio/health/live', tls: spec.tls !== undefined },
    dependsOn: parts.kms === undefined ? [] : [workloadName({ kind: 'KMSConfig', name: parts.kms.metadata.name })],
    replicas: spec.replicas,
    kubernetes: standardOptions(spec.replicas),
    inputs: [
      ...specInputs(tenantSpec, spec, owner, tenantReason, context),
      ...storagePath(tenant, context),
      ...restartRequest(tenant, context),
      ...root.inputs,
      ...keyService.inputs,
      ...settings.inputs,
      ...providers.flatMap((provider) => provider.inputs),
    ],
  };
}

interface Part {
  readonly environment: readonly EnvironmentVariable[];
  readonly files: readonly MountedFile[];
  readonly inputs: readonly RestartInput[];
}
const nothing: Part = { environment: [], files: [], inputs: [] };

/** Which fields of the spec restart the server by themselves; those with inputs of their own, and those that render to nothing, do not. */
function tenantReason(field: string): RestartReason | undefined {
  switch (field) {
    case 'image':
      return 'ImageChanged';
    case 'addresses':
    case 'tls':
    case 'kmsConfigRef':
    case 'rootCredentialsSecret':
      return 'TenantChanged';
    default:
      return undefined;
  }
}

/** Only another folder needs a restart; a volume grows in place. */
function storagePath({ metadata, spec }: Tenant, context: RenderContext): readonly RestartInput[] {
  const { path } = spec.storage;
  if (path === undefined) return [];
  const of = { kind: 'Tenant', name: metadata.name } as const;
  return [{ reason: 'TenantChanged', field: 'spec.storage.path', of, fingerprint: context.fingerprint(path) }];
}

function restartRequest(tenant: Tenant, context: RenderContext): readonly RestartInput[] {
  const value = tenant.metadata.annotations?.[restartAnnotation];
  if (value === undefined) return [];
  const of = { kind: 'Tenant', name: tenant.metadata.name } as const;
  return [
    {
      reason: 'RestartRequested',
      field: `annotation ${restartAnnotation}`,
      of,
      fingerprint: context.fingerprint(value),
    },
  ];
}

function rootCredentials(tenant: Tenant, secret: string, context: RenderContext): Part {
  const field = `spec.rootCredentialsSecret of Tenant ${tenant.metadata.name}`;
  const rows = [
    ['SVC_ROOT_USER', 'rootUser'],
    ['SVC_ROOT_PASSWORD', 'rootPassword'],
  ] as const;
  return {
    environment: rows.map(([name, key]) => secretFileVariable(name, text`${mounted('root', key)}`)),
    files: rows.map(([, key]) => ({ path: key, content: { kind: 'secret', secret, key }, reloads: false })),
    inputs: rows.map(([, key]) => {
      const ref = { name: secret, key };
      return secretInput(ref, secretValue(context.secrets, ref, field), context);
    }),
  };
}

function keyServiceParts(tenant: Tenant, kms: KMSConfig | undefined, context: RenderContext): Part {
  const ref = tenant.spec.kmsConfigRef;
  if (ref === undefined) return nothing;
  if (kms === undefined) {
    throw new RenderProblem(
      'KMSConfigNotFound',
      `spec.kmsConfigRef of Tenant ${tenant.metadata.name} names the KMSConfig ${ref.name}, which does not exist`,
    );
  }
  const certificate = keyServiceClientCertificate(tenant.metadata.name);
  const service = workloadName({ kind: 'KMSConfig', name: ref.name });
  const of = { kind: 'KMSConfig', name: ref.name } as const;
  const defaultKey = ref.defaultKey ?? kms.spec.defaultKey;
  if (!defaultKey.startsWith(ref.keyPrefix)) {
    throw new RenderProblem(
      'InvalidSettings',
      `the default key ${defaultKey} does not begin with spec.kmsConfigRef.keyPrefix of Tenant ${tenant.metadata.name} ` +
        `(${ref.keyPrefix}), so the tenant could not use it: set spec.kmsConfigRef.defaultKey`,
    );
  }
  return {
    environment: [
      variable('SVC_KMS_KEYSVC_ENDPOINT', text`https://${address(service, 'api')}`),
      variable('SVC_KMS_KEYSVC_KEY_NAME', defaultKey),
      variable('SVC_KMS_KEYSVC_CERT_FILE', text`${mounted('key-service', 'tls.crt')}`),
      variable('SVC_KMS_KEYSVC_KEY_FILE', text`${mounted('key-service', 'tls.key')}`),
      variable('SVC_KMS_KEYSVC_CAPATH', text`${mounted('key-service', 'ca.crt')}`),
    ],
    files: [
      { path: 'tls.crt', content: { kind: 'certificate', certificate, part: 'certificate' }, reloads: true },
      { path: 'tls.key', content: { kind: 'certificate', certificate, part: 'key' }, reloads: true },
      { path: 'ca.crt', content: { kind: 'certificate', certificate, part: 'ca' }, reloads: true },
    ],
    inputs: [
      {
        reason: 'KMSConfigChanged',
        field: 'spec.address',
        of,
        fingerprint: context.fingerprint(canonical(kms.spec.address)),
      },
      { reason: 'KMSConfigChanged', field: 'spec.defaultKey', of, fingerprint: context.fingerprint(defaultKey) },
    ],
  };
}

/** The server re-reads its certificate, so a new one restarts nothing. */
function tlsParts(tenant: Tenant, context: RenderContext): Part {
  const { tls } = tenant.spec;
  if (tls === undefined) return nothing;
  const secret = tls.secretName;
  const field = `spec.tls.secretName of Tenant ${tenant.metadata.name}`;
  const keys = ['tls.crt', 'tls.key'] as const;
  for (const key of keys) secretValue(context.secrets, { name: secret, key }, field);
  return {
    environment: [
      variable('SVC_TLS_CERT_FILE', text`${mounted('tls', 'tls.crt')}`),
      variable('SVC_TLS_KEY_FILE', text`${mounted('tls', 'tls.key')}`),
    ],
    files: keys.map((key) => ({ path: key, content: { kind: 'secret', secret, key }, reloads: true })),
    inputs: [],
  };
}

function dataVolume({ spec }: Tenant): Mount {
  const { size, path } = spec.storage;
  return {
    kind: 'volume',
    name: 'data',
    ...(size === undefined ? {} : { size }),
    ...(path === undefined ? {} : { path }),
    claim: { kind: 'each', accessMode: 'ReadWriteOnce' },
  };
}

function files(name: string, list: readonly MountedFile[]): readonly Mount[] {
  return list.length === 0 ? [] : [{ kind: 'files', name, files: list }];
}
