import type { KeyCanaries } from '../../protocol/key-service/canary.ts';
import { matchesNoCall } from '../../protocol/key-service/policy.ts';
import { keystore as keystoreSchema } from '../api/keystore.ts';
import { kmsConfigSpec } from '../api/kms-config.ts';
import type { KMSConfig, Tenant } from '../api/object.ts';
import { podFieldNames } from '../api/kubernetes-fields.ts';
import { ResourceError } from '../api/resource-error.ts';
import type { VolumeFields } from '../api/volume-fields.ts';
import {
  mounted,
  text,
  type KubernetesOptions,
  type Mount,
  type RestartInput,
  type RestartReason,
  type Workload,
} from '../contract/workload.ts';
import { keyProofCertificate, keyServiceCertificate } from './certificates.ts';
import { keyServiceConfiguration, overlappingPrefixes } from './key-service-configuration.ts';
import { monitoringOptions, podOptions, shutdownDelay } from './kubernetes-options.ts';
import { checkKeyServiceStart } from './check-key-service-start.ts';
import { issuedCertificate, workloadName, type RenderContext } from './render-context.ts';
import { renderKeystore, type RenderedKeystore } from './render-keystore.ts';
import { filesMount, volumeMount } from './rendered-part.ts';
import { canonical, fieldInput, imageInput, restartRequest, specInputs, withoutDefaults } from './restart-inputs.ts';

/**
 * Renders the key service of a KMSConfig, with a policy for each tenant that uses it, and one for the operator when tenants move to it.
 * `canaries` are those of the keys that sealed data: a pod with other keys of these names is never ready, and makes none of them anew.
 * A key service starts with what this returns.
 *
 * @throws ResourceError
 */
export function renderKeyService(
  kms: KMSConfig,
  tenants: readonly Tenant[],
  context: RenderContext,
  movers: readonly Tenant[] = [],
  canaries: readonly KeyCanaries[] = [],
): Workload {
  const workload = renderUncheckedKeyService(kms, tenants, context, movers, canaries);
  checkKeyServiceStart(workload, context.secrets);
  refuseIdleDenials(kms);
  return workload;
}

/**
 * A key service starts with a pattern that matches no call, since configurations of KES have such, and warns of it. Under `deny` of a KMSConfig it is
 * a mistake that guards nothing. Under `allow` it opens nothing.
 */
function refuseIdleDenials({ metadata, spec }: KMSConfig): void {
  for (const { name, deny = [] } of spec.policies ?? []) {
    const pattern = deny.find(matchesNoCall);
    if (pattern === undefined) continue;
    throw new ResourceError(
      'InvalidSettings',
      `the policy ${name} in spec.policies of KMSConfig ${metadata.name} has "${pattern}" under deny, which guards nothing: ` +
        'no call that a policy decides matches it',
    );
  }
}

/** Renders what `renderKeyService` does, whether or not a key service could start with it. */
export function renderUncheckedKeyService(
  kms: KMSConfig,
  tenants: readonly Tenant[],
  context: RenderContext,
  movers: readonly Tenant[] = [],
  canaries: readonly KeyCanaries[] = [],
): Workload {
  const { name } = kms.metadata;
  const owner = { kind: 'KMSConfig', name } as const;
  const users = admittedTenants(name, tenants);
  const keystore = renderKeystore(kms, 'keystore', context);
  issuedCertificate(context.certificates, keyServiceCertificate(name), `the certificate of KMSConfig ${name}`);
  const { files } = kms.spec.keystore;
  const image = kms.spec.image ?? context.operandImage;
  const delay = shutdownDelay(kms.spec.replicas);
  return {
    name: workloadName(owner),
    owner,
    program: 'keysvc',
    ...(image === undefined ? {} : { image }),
    arguments: [
      text`server`,
      text`--config`,
      text`${mounted('config', 'keysvc.yaml')}`,
      ...(delay === undefined ? [] : [text`--shutdown-delay`, text`${delay}`]),
    ],
    environment: [
      ...keystore.environment,
      { name: 'KEYSVC_CANARIES', value: text`${mounted('config', 'canaries.json')}` },
    ],
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
            content: {
              kind: 'yaml',
              document: keyServiceConfiguration(kms, users, movers, keystore.document, context),
            },
            // The file reloads for policies and keys. Its other parts are restart inputs.
            reloads: true,
          },
          // A file of its own, by a variable: a key service of an earlier release ignores both.
          { path: 'canaries.json', content: { kind: 'text', text: `${JSON.stringify(canaries)}\n` }, reloads: true },
        ],
      },
      certificateMount(name),
      ...(files === undefined ? [] : [keysMount(kms, users, files)]),
      ...filesMount('keystore', keystore.files),
    ],
    // The configuration opens this path to all. The state of the keystore is not the pod's own: with it an outage would take every pod out of
    // the service, and the keys in their memory with them. A pod begins to listen when the keystore has given it the listed keys.
    readiness: { kind: 'http', port: 'api', path: '/v1/ready?store=ignore', tls: true },
    liveness: { kind: 'connect', port: 'api' },
    dependsOn: [],
    check: {
      arguments: checkArguments,
      argumentsOfFound: [...checkArguments, text`--complete`],
      needsContent: canaries.length > 0,
      inputs: keystoreInputs(kms, keystore, context),
      expects: canaries.length === 0 ? 'nothing' : context.fingerprint(canonical(canaries)),
    },
    ...(movers.length === 0 ? {} : { clientCertificates: [keyProofCertificate(name)] }),
    replicas: kms.spec.replicas,
    kubernetes: kubernetes(kms, users, keystore),
    inputs: inputs(kms, keystore, context),
  };
}

const checkArguments = [text`check`, text`--config`, text`${mounted('config', 'keysvc.yaml')}`];

/**
 * Returns the tenants that get a policy, sorted by name, so that their order changes nothing. Of two tenants with overlapping prefixes only
 * the first gets one.
 */
function admittedTenants(kms: string, tenants: readonly Tenant[]): readonly Tenant[] {
  const users = tenants.filter(({ spec }) => spec.kmsConfigRef?.name === kms);
  const overlapping = overlappingTenants(users);
  return users
    .filter(({ metadata }) => !overlapping.has(metadata.name))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** Returns the tenants that must not use their key service, each with the tenant that it would share keys with. */
export function overlappingTenants(users: readonly Tenant[]): ReadonlyMap<string, string> {
  return overlappingPrefixes(
    users.map(({ metadata, spec }) => ({ name: metadata.name, keyPrefix: spec.kmsConfigRef?.keyPrefix ?? '' })),
  );
}

function kubernetes(kms: KMSConfig, users: readonly Tenant[], keystore: RenderedKeystore): KubernetesOptions {
  const { spec, metadata } = kms;
  const { enabled, alsoFrom } = spec.networkPolicy;
  const oneNode = spec.keystore.files?.accessMode === 'ReadWriteOnce';
  const own = workloadName({ kind: 'KMSConfig', name: metadata.name });
  return {
    pod: {
      ...podOptions(spec, { labels: keystore.podLabels, ...(oneNode ? { sameNodeAs: own } : {}) }),
      // The credentials of the pod at the vault.
      ...(spec.keystore.vault?.kubernetes === undefined ? {} : { serviceAccountToken: true }),
    },
    reclaimPolicy: spec.reclaimPolicy,
    hibernated: false,
    services: {},
    ingresses: [],
    networkPolicy: enabled
      ? {
          admits: { api: users.map((tenant) => workloadName({ kind: 'Tenant', name: tenant.metadata.name })) },
          alsoFrom: alsoFrom ?? [],
        }
      : undefined,
    monitoring: monitoringOptions(spec.monitoring, { port: 'api', path: '/v1/metrics' }),
  };
}

/** A tenant's server encrypts its backend at its first start; other clients with a policy may have encrypted any data. */
function keysMount({ spec }: KMSConfig, users: readonly Tenant[], files: VolumeFields): Mount {
  const mount = volumeMount('keys', files, 'shared');
  if (mount.kind !== 'volume' || mount.claim.kind !== 'shared') return mount;
  const sealedFor = [
    ...users.map(({ metadata }) => `Tenant ${metadata.name}`),
    ...(spec.policies ?? []).filter(({ identities }) => identities.length > 0).map(({ name }) => `policy ${name}`),
  ];
  return { ...mount, claim: { ...mount.claim, sealedFor } };
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

/**
 * Returns the fields that restart the key service. Policies, keys and certificates reload; the enclave concerns only tenants; `keystore`
 * and `monitoring` have their own inputs, since not every part of them counts.
 */
function reasonOf(field: string): RestartReason | undefined {
  if (podFieldNames.has(field)) return 'PodTemplateChanged';
  switch (field) {
    case 'address':
    case 'cache':
      return 'KMSConfigChanged';
    default:
      return undefined;
  }
}

function inputs(kms: KMSConfig, keystore: RenderedKeystore, context: RenderContext): readonly RestartInput[] {
  const of = { kind: 'KMSConfig', name: kms.metadata.name } as const;
  return [
    ...imageInput(of, kms.spec.image ?? context.operandImage, context, kms.spec.image !== undefined),
    ...specInputs(kmsConfigSpec, kms.spec, of, reasonOf, context),
    // With metrics the path is open to every client that the network policy admits.
    ...(kms.spec.monitoring === undefined
      ? []
      : [fieldInput('KMSConfigChanged', 'spec.monitoring', of, true, context)]),
    ...keystoreInputs(kms, keystore, context),
    ...restartRequest(kms, context),
  ];
}

/** Returns what decides which keys the key service has: the keystore, and the credentials for it. */
function keystoreInputs(kms: KMSConfig, keystore: RenderedKeystore, context: RenderContext): readonly RestartInput[] {
  const of = { kind: 'KMSConfig', name: kms.metadata.name } as const;
  const { files, ...others } = kms.spec.keystore;
  // A volume grows without a restart.
  const { size: _, ...volume } = files ?? {};
  const keystoreSpec = withoutDefaults(keystoreSchema, { ...others, ...(files && { files: volume }) });
  return [fieldInput('KMSConfigChanged', 'spec.keystore', of, keystoreSpec, context), ...keystore.inputs];
}
