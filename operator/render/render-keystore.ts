import { ResourceError } from '../api/resource-error.ts';
import type { CaBundleFrom } from '../api/fields.ts';
import type { Keystore } from '../api/keystore.ts';
import type { KMSConfig } from '../api/object.ts';
import {
  mounted,
  text,
  type DocumentNode,
  type EnvironmentVariable,
  type MountedFile,
  type RestartInput,
  type SecretText,
} from '../contract/workload.ts';
import { secretValue, type KeyRef, type RenderContext } from './render-context.ts';
import { caBundle, secretInput } from './restart-inputs.ts';

/** The part of a keystore in the key service. */
export interface RenderedKeystore {
  /** `keystore` of the key service's configuration. */
  readonly document: DocumentNode;
  readonly environment: readonly EnvironmentVariable[];
  readonly files: readonly MountedFile[];
  readonly podLabels: Readonly<Record<string, string>>;
  readonly inputs: readonly RestartInput[];
}

type Document = Readonly<Record<string, DocumentNode>>;
type Reader = (ref: KeyRef, field: string) => SecretText;

/** Renders the keystore of a KMSConfig, with its Secrets. `mount` is the mount of its files. Errors with `ResourceError`. */
export function renderKeystore(kms: KMSConfig, mount: string, context: RenderContext): RenderedKeystore {
  const inputs: RestartInput[] = [];
  const read: Reader = (ref, field) => {
    const where = `spec.keystore.${field} of KMSConfig ${kms.metadata.name}`;
    inputs.push(secretInput(ref, secretValue(context.secrets, ref, where, 'keystore'), context));
    return { kind: 'secret', secret: ref.name, key: ref.key };
  };
  const { files, azure, vault, aws, gcp } = kms.spec.keystore;
  const plain = { environment: [], files: [], podLabels: {}, inputs };
  /** Returns the file of a keystore's authorities, and its field in the configuration. */
  const authorities = (
    kind: 'azure' | 'vault',
    from: CaBundleFrom | undefined,
  ): { files: MountedFile[]; tls: Document } => {
    if (from === undefined) return { files: [], tls: {} };
    const { value, input } = caBundle(
      from,
      `spec.keystore.${kind}.caBundleFrom of KMSConfig ${kms.metadata.name}`,
      context,
    );
    inputs.push(input);
    return {
      files: [{ path: 'ca.crt', content: { kind: 'text', text: value }, reloads: false }],
      tls: { tls: { ca: text`${mounted(mount, 'ca.crt')}` } },
    };
  };
  if (files !== undefined) return { ...plain, document: { fs: { path: text`${mounted('keys')}` } } };
  if (azure !== undefined) {
    // The webhook of Azure gives pods with this label a token of their service account.
    const podLabels: RenderedKeystore['podLabels'] =
      azure.workloadIdentity === undefined ? {} : { 'azure.workload.identity/use': 'true' };
    const { files, tls } = authorities('azure', azure.caBundleFrom);
    return { ...plain, files, podLabels, document: { azure: { keyvault: { ...azureVault(azure, read), ...tls } } } };
  }
  if (vault !== undefined) {
    const { files, tls } = authorities('vault', vault.caBundleFrom);
    return { ...plain, files, document: { vault: { ...hashicorpVault(vault, read), ...tls } } };
  }
  if (aws !== undefined) {
    const token = hasKey(context, aws.credentialsSecret?.name, 'token');
    return { ...plain, document: { aws: { secretsmanager: awsSecretsManager(aws, token, read) } } };
  }
  if (gcp !== undefined) {
    const document = { gcp: { secretmanager: gcpSecretManager(gcp) } };
    const ref = gcp.credentialsSecretRef;
    if (ref === undefined) return { ...plain, document };
    // The libraries of Google find a key file by this variable.
    return {
      ...plain,
      document,
      environment: [{ name: 'GOOGLE_APPLICATION_CREDENTIALS', value: text`${mounted(mount, 'gcp.json')}` }],
      files: [{ path: 'gcp.json', content: read(ref, 'gcp.credentialsSecretRef'), reloads: false }],
    };
  }
  // The rules of the resource refuse it earlier.
  throw new ResourceError('InvalidSettings', `spec.keystore of KMSConfig ${kms.metadata.name} names no keystore`);
}

function azureVault(azure: NonNullable<Keystore['azure']>, read: Reader): Document {
  const { endpoint, authorityHost, audience, clientSecret, managedIdentity, workloadIdentity } = azure;
  return {
    endpoint,
    ...given('authority', authorityHost),
    ...given('audience', audience),
    ...(clientSecret === undefined
      ? {}
      : {
          credentials: {
            tenant_id: clientSecret.tenantId,
            client_id: clientSecret.clientId,
            client_secret: read(clientSecret.clientSecretRef, 'azure.clientSecret.clientSecretRef'),
          },
        }),
    ...(managedIdentity === undefined ? {} : { managed_identity: { ...given('client_id', managedIdentity.clientId) } }),
    ...(workloadIdentity === undefined
      ? {}
      : { workload_identity: { tenant_id: workloadIdentity.tenantId, client_id: workloadIdentity.clientId } }),
  };
}

function hashicorpVault(vault: NonNullable<Keystore['vault']>, read: Reader): Document {
  const { endpoint, engine, version, namespace, prefix, approle, kubernetes } = vault;
  return {
    endpoint,
    engine,
    version,
    ...given('namespace', namespace),
    ...given('prefix', prefix),
    ...(approle === undefined
      ? {}
      : {
          approle: {
            engine: approle.engine,
            id: read(approle.roleIdSecretRef, 'vault.approle.roleIdSecretRef'),
            secret: read(approle.secretIdSecretRef, 'vault.approle.secretIdSecretRef'),
          },
        }),
    ...(kubernetes === undefined ? {} : { kubernetes: { engine: kubernetes.engine, role: kubernetes.role } }),
  };
}

function awsSecretsManager(aws: NonNullable<Keystore['aws']>, withToken: boolean, read: Reader): Document {
  const { region, endpoint, kmsKey, credentialsSecret } = aws;
  const credential = (key: string) => read({ name: credentialsSecret?.name ?? '', key }, 'aws.credentialsSecret');
  return {
    endpoint: endpoint ?? `secretsmanager.${region}.amazonaws.com`,
    region,
    ...given('kmskey', kmsKey),
    ...(credentialsSecret === undefined
      ? {}
      : {
          credentials: {
            accesskey: credential('accessKey'),
            secretkey: credential('secretKey'),
            ...(withToken ? { token: credential('token') } : {}),
          },
        }),
  };
}

function gcpSecretManager({ projectId, endpoint, scopes }: NonNullable<Keystore['gcp']>): Document {
  return { project_id: projectId, ...given('endpoint', endpoint), ...given('scopes', scopes) };
}

function hasKey(context: RenderContext, secret: string | undefined, key: string): boolean {
  return secret !== undefined && context.secrets.get(secret)?.data[key] !== undefined;
}

function given(key: string, value: DocumentNode | undefined): Document {
  return value === undefined ? {} : { [key]: value };
}
