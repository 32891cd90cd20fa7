import type { ExpectedDeployment } from '../../protocol/expected-deployment.ts';
import { type KMSConfig, type Tenant } from '../api/object.ts';
import { allowUse } from '../api/kubectl-argument.ts';
import { ResourceError } from '../api/resource-error.ts';
import { tenantSpec } from '../api/tenant.ts';
import { podFieldNames } from '../api/kubernetes-fields.ts';
import {
  listen,
  mounted,
  text,
  type EnvironmentVariable,
  type Mount,
  type MountedFile,
  type RestartReason,
  type Workload,
} from '../contract/workload.ts';
import { byName, secretFileVariable, variable, filesMount, type RenderedPart } from './rendered-part.ts';
import { checkClients } from './check-clients.ts';
import { checkServerStart } from './check-server-start.ts';
import { secretValue, workloadName, type RenderContext } from './render-context.ts';
import { renderIdentityProvider, type AcceptedProvider, renderServiceAccounts } from './render-identity-provider.ts';
import { imageInput, restartRequest, secretInput, specInputs } from './restart-inputs.ts';
import { renderKeyServiceAccess } from './tenant-key-service.ts';
import { shutdownDelay, tenantKubernetes } from './kubernetes-options.ts';
import { regionSetting, renderSettings, renderTls, standardRegion } from './tenant-settings.ts';
import { renderTargets } from './tenant-targets.ts';
import { renderStorage } from './tenant-storage.ts';

interface TenantParts {
  /** The checked providers, in the order of the spec. */
  readonly providers: readonly AcceptedProvider[];
  readonly kms?: KMSConfig;
  /** The Secret with rootUser and rootPassword: the Tenant's own, or the one that the operator made. */
  readonly rootSecret: string;
  /** The Secret with the credentials that every server accepts (rootUser, rootPassword), and the former ones (`former`). */
  readonly acceptedRootSecret?: string;
  /** Which stores the server may have; any by default. */
  readonly deployment?: ExpectedDeployment;
}

/** Names that `spec.settings` must not have: the operator renders them. */
const rendered = [
  'SVC_ADDRESS',
  'SVC_CONSOLE_ADDRESS',
  'SVC_VOLUMES',
  'SVC_TLS_CERT_FILE',
  'SVC_TLS_KEY_FILE',
  'SVC_ROOT_FORMER_FILE',
  'SVC_DEPLOYMENT_FILE',
] as const;
const renderedWithKms = [
  'SVC_KMS_KEYSVC_ENDPOINT',
  'SVC_KMS_KEYSVC_KEY_NAME',
  'SVC_KMS_KEYSVC_CERT_FILE',
  'SVC_KMS_KEYSVC_KEY_FILE',
  'SVC_KMS_KEYSVC_CAPATH',
  'SVC_KMS_KEYSVC_API_KEY',
  'SVC_KMS_KEYSVC_ENCLAVE',
] as const;

/** Renders the storage server of a Tenant, and checks that it would start. Errors with `ResourceError`. */
export function renderTenant(tenant: Tenant, parts: TenantParts, context: RenderContext): Workload {
  const workload = renderUnchecked(tenant, parts, context);
  checkServerStart(workload, context.secrets);
  return workload;
}

/** Renders what `renderTenant` does, whether or not a server could start with it. */
export function renderUnchecked(tenant: Tenant, parts: TenantParts, context: RenderContext): Workload {
  const { name } = tenant.metadata;
  const { spec } = tenant;
  const owner = { kind: 'Tenant', name } as const;
  const image = spec.image ?? context.operandImage;
  const targets = renderTargets(tenant, context);
  const reserved = new Set<string>([
    ...rendered,
    ...(parts.kms === undefined ? [] : renderedWithKms),
    ...targets.reserved,
  ]);
  checkClients(parts.providers);
  const providers = parts.providers.map((provider) => renderIdentityProvider(provider, 'identity', context));
  const settings = renderSettings(tenant, reserved, 'settings', context);
  const root = rootCredentials(tenant, parts, context);
  const storage = renderStorage(tenant, context);
  const keyService = renderKeyServiceAccess(tenant, parts.kms, context);
  const tls = renderTls(tenant, context);
  const serviceAccounts = renderServiceAccounts(tenant, parts.providers, context);
  const environment = [
    ...root.environment,
    ...storage.environment,
    ...keyService.environment,
    ...tls.environment,
    ...serviceAccounts.environment,
    variable('SVC_DEPLOYMENT_FILE', text`${mounted('deployment', 'expected.json')}`),
    ...stopSettings(tenant),
    ...settings.environment,
    ...targets.environment,
    ...providers.flatMap((provider) => provider.environment),
  ].sort(byName);
  return {
    name: workloadName(owner),
    owner,
    program: 'coffer-server',
    ...(image === undefined ? {} : { image }),
    arguments: [
      ...(storage.embedded ? [text`${mounted('data')}`] : []),
      text`--address`,
      text`${listen('s3')}`,
      text`--console-address`,
      text`${listen('console')}`,
    ],
    environment,
    ports: (['s3', 'console'] as const).map((port) => ({
      name: port,
      ...spec.addresses[port],
      field: `spec.addresses.${port}.port of Tenant ${name}`,
    })),
    mounts: [
      ...storage.mounts,
      ...filesMount('root', root.files),
      deploymentMount(parts.deployment ?? {}),
      ...filesMount('key-service', keyService.files),
      ...filesMount('tls', tls.files),
      ...filesMount('settings', settings.files),
      ...filesMount('targets', targets.files),
      ...filesMount(
        'identity',
        providers.flatMap((provider) => provider.files),
      ),
    ],
    readiness: { kind: 'http', port: 's3', path: '/minio/health/ready', tls: spec.tls !== undefined },
    liveness: { kind: 'http', port: 's3', path: '/minio/health/live', tls: spec.tls !== undefined },
    dependsOn: parts.kms === undefined ? [] : [workloadName({ kind: 'KMSConfig', name: parts.kms.metadata.name })],
    replicas: spec.replicas,
    sharedInputs: sharedInputs(tenant),
    kubernetes: tenantKubernetes(tenant, parts.acceptedRootSecret ?? parts.rootSecret),
    inputs: [
      ...imageInput(owner, image, context, spec.image !== undefined),
      ...specInputs(tenantSpec, spec, owner, tenantReason, context),
      ...restartRequest(tenant, context),
      ...storage.inputs,
      ...root.inputs,
      ...keyService.inputs,
      ...tls.inputs,
      ...serviceAccounts.inputs,
      ...settings.inputs,
      ...targets.inputs,
      ...providers.flatMap((provider) => provider.inputs),
    ],
  };
}

/** Servers of a store refuse one with another region. Root credentials change one server at a time, since the former ones count for a while. */
function sharedInputs({ metadata: { name }, spec }: Tenant): NonNullable<Workload['sharedInputs']> {
  const source = spec.settings?.find((row) => row.name === regionSetting)?.valueFrom?.configMapKeyRef;
  return [
    {
      field: `setting ${regionSetting}`,
      of: { kind: 'Tenant', name },
      standard: standardRegion,
      ...(source === undefined
        ? {}
        : { source: { field: `key ${source.key}`, of: { kind: 'ConfigMap', name: source.name } } as const }),
    },
  ];
}

/** The server reads the file when it looks at its stores, so that a store may be accepted without a restart. */
function deploymentMount(deployment: ExpectedDeployment): Mount {
  const content = { kind: 'text', text: `${JSON.stringify(deployment)}\n` } as const;
  return { kind: 'files', name: 'deployment', files: [{ path: 'expected.json', content, reloads: true }] };
}

/**
 * Returns how a server stops, where the spec does not say it. While a lone server stops, it answers that clients should retry in five
 * seconds, when it is back. So every client that asks in that moment gets through the restart with its default retries.
 */
function stopSettings({ spec }: Tenant): readonly EnvironmentVariable[] {
  const delay = shutdownDelay(spec.replicas);
  const [name, value] = delay === undefined ? ['SVC_SHUTDOWN_REFUSAL', '500ms'] : ['SVC_SHUTDOWN_DELAY', delay];
  return spec.settings?.some((each) => each.name === name) === true ? [] : [variable(name, value)];
}

/** Returns the fields of the spec that restart the server. Fields with their own inputs, and fields that render to nothing, do not. */
function tenantReason(field: string): RestartReason | undefined {
  if (podFieldNames.has(field)) return 'PodTemplateChanged';
  switch (field) {
    case 'addresses':
    case 'rootCredentialsSecret':
      return 'TenantChanged';
    default:
      return undefined;
  }
}

function rootCredentials(
  tenant: Tenant,
  { rootSecret: secret, acceptedRootSecret: accepted }: TenantParts,
  context: RenderContext,
): RenderedPart {
  const field = `spec.rootCredentialsSecret of Tenant ${tenant.metadata.name}`;
  const use = tenant.spec.rootCredentialsSecret === undefined ? 'own' : 'root-credentials';
  if (use === 'own' && context.secrets.get(secret)?.missing === true) {
    throw new ResourceError(
      'SecretNotFound',
      `the Secret ${secret} with the root credentials of Tenant ${tenant.metadata.name} was deleted, and no other password is made unasked: ` +
        `restore it, or make it with the keys rootUser and rootPassword; ${allowUse({ ...tenant.metadata, name: secret }, 'root-credentials')}`,
    );
  }
  const rows = [
    ['SVC_ROOT_USER', 'rootUser'],
    ['SVC_ROOT_PASSWORD', 'rootPassword'],
  ] as const;
  return {
    environment: [
      ...rows.map(([name, key]) => secretFileVariable(name, text`${mounted('root', key)}`)),
      ...(accepted === undefined ? [] : [variable('SVC_ROOT_FORMER_FILE', text`${mounted('root', 'former')}`)]),
    ],
    files: [
      ...rows.map(
        ([, key]) => ({ path: key, content: { kind: 'secret', secret, key }, reloads: false }) satisfies MountedFile,
      ),
      // The file is re-read, so that a rotation restarts servers once and the end of the former credentials needs no restart.
      ...(accepted === undefined
        ? []
        : [
            {
              path: 'former',
              content: { kind: 'secret', secret: accepted, key: 'former' },
              reloads: true,
            } satisfies MountedFile,
          ]),
    ],
    inputs: rows.map(([, key]) => {
      const ref = { name: secret, key };
      return secretInput(ref, secretValue(context.secrets, ref, field, use), context);
    }),
  };
}
