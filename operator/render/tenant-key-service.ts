import { ResourceError } from '../api/resource-error.ts';
import { kmsConfigSpec } from '../api/kms-config.ts';
import type { KMSConfig, Tenant } from '../api/object.ts';
import { address, mounted, text, type RestartInput } from '../contract/workload.ts';
import { keyServiceClientCertificate } from './certificates.ts';
import { variable, nothing, type RenderedPart } from './rendered-part.ts';
import { issuedCertificate, workloadName, type RenderContext } from './render-context.ts';
import { fieldInput, withoutDefaults } from './restart-inputs.ts';

type KmsConfigRef = NonNullable<Tenant['spec']['kmsConfigRef']>;

/**
 * Renders the access of a tenant's server to its key service. The server re-reads its certificate; `keyPrefix` concerns only the key
 * service.
 */
export function renderKeyServiceAccess(
  tenant: Tenant,
  kms: KMSConfig | undefined,
  context: RenderContext,
): RenderedPart {
  const ref = tenant.spec.kmsConfigRef;
  if (ref === undefined) return nothing;
  const { name } = tenant.metadata;
  if (kms === undefined) {
    throw new ResourceError(
      'KMSConfigNotFound',
      `spec.kmsConfigRef of Tenant ${name} names the KMSConfig ${ref.name}, which does not exist`,
    );
  }
  const certificate = keyServiceClientCertificate(name);
  issuedCertificate(
    context.certificates,
    certificate,
    `the certificate by which Tenant ${name} is known to its key service`,
  );
  const { enclave } = kms.spec;
  return {
    environment: [
      variable(
        'SVC_KMS_KEYSVC_ENDPOINT',
        text`https://${address(workloadName({ kind: 'KMSConfig', name: ref.name }), 'api')}`,
      ),
      variable('SVC_KMS_KEYSVC_KEY_NAME', defaultKeyOf(name, ref, kms)),
      variable('SVC_KMS_KEYSVC_CERT_FILE', text`${mounted('key-service', 'tls.crt')}`),
      variable('SVC_KMS_KEYSVC_KEY_FILE', text`${mounted('key-service', 'tls.key')}`),
      variable('SVC_KMS_KEYSVC_CAPATH', text`${mounted('key-service', 'ca.crt')}`),
      ...(enclave === undefined ? [] : [variable('SVC_KMS_KEYSVC_ENCLAVE', enclave)]),
    ],
    files: [
      { path: 'tls.crt', content: { kind: 'certificate', certificate, part: 'certificate' }, reloads: true },
      { path: 'tls.key', content: { kind: 'certificate', certificate, part: 'key' }, reloads: true },
      { path: 'ca.crt', content: { kind: 'certificate', certificate, part: 'ca' }, reloads: true },
    ],
    inputs: inputs(name, ref, kms, context),
  };
}

function defaultKeyOf(tenant: string, ref: KmsConfigRef, kms: KMSConfig): string {
  const key = ref.defaultKey ?? kms.spec.defaultKey;
  if (key.startsWith(ref.keyPrefix)) return key;
  throw new ResourceError(
    'InvalidSettings',
    `the default key ${key} does not begin with spec.kmsConfigRef.keyPrefix of Tenant ${tenant} ` +
      `(${ref.keyPrefix}), so the tenant could not use it: set spec.kmsConfigRef.defaultKey`,
  );
}

function inputs(tenant: string, ref: KmsConfigRef, kms: KMSConfig, context: RenderContext): readonly RestartInput[] {
  const own = { kind: 'Tenant', name: tenant } as const;
  const of = { kind: 'KMSConfig', name: ref.name } as const;
  const { address: listens, defaultKey, enclave } = kms.spec;
  return [
    fieldInput('TenantChanged', 'spec.kmsConfigRef', own, { name: ref.name, defaultKey: ref.defaultKey }, context),
    fieldInput('KMSConfigChanged', 'spec.address', of, withoutDefaults(kmsConfigSpec.shape.address, listens), context),
    ...(ref.defaultKey === undefined
      ? [fieldInput('KMSConfigChanged', 'spec.defaultKey', of, defaultKey, context)]
      : []),
    ...(enclave === undefined ? [] : [fieldInput('KMSConfigChanged', 'spec.enclave', of, enclave, context)]),
  ];
}
