import { readErrorDocument } from '../../../protocol/s3/responses.ts';
import { kubectlArgument } from '../../api/kubectl-argument.ts';
import { ResourceError } from '../../api/resource-error.ts';
import { randomBytes } from 'node:crypto';
import type { AccessKey, User } from '../../api/object.ts';
import type { Secret } from '../../contract/secret.ts';
import { exchange, type TenantEndpoint } from './signed-request.ts';
import type { ManagedContext, ManagedStatus } from './controller.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

/** Name of the Secret with the keys of a User or an AccessKey. */
export function credentialsSecretName({ spec, metadata }: User | AccessKey): string {
  return spec.credentialsSecret?.name ?? `${metadata.name}-credentials`;
}

/** Names the Secret with root credentials that the operator makes for a Tenant that names none. */
export function madeRootSecretName(tenant: string): string {
  return `${tenant}-root-credentials`;
}

export function accessKeyOf({ spec, metadata }: User | AccessKey): string {
  return spec.accessKey ?? metadata.name;
}

/** The content of a Secret of new keys; as variables too, so that a pod can take it whole (`envFrom`). */
export function newCredentials(resource: User | AccessKey): Readonly<Record<string, string>> {
  const accessKey = accessKeyOf(resource);
  // 40 characters without those that a shell, a URL or a YAML file would have to quote: 237 bits of chance.
  const secretKey = randomBytes(48).toString('base64url').replaceAll(/[-_]/g, '').slice(0, 40).padEnd(40, '0');
  return { accessKey, secretKey, AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey };
}

/** The secret key of such a Secret. Errors with `ResourceError`, since only a person can mend what a person wrote. */
export function secretKeyOf(resource: User | AccessKey, { name, data }: Secret): string {
  const { accessKey, secretKey } = data;
  const { kind, metadata } = resource;
  if (secretKey === undefined || secretKey === '') {
    throw new ResourceError(
      'Conflict',
      `Secret ${name} has no key secretKey, which ${kind} ${metadata.name} needs: add it, or name another Secret in spec.credentialsSecret`,
    );
  }
  const wanted = accessKeyOf(resource);
  if (accessKey !== undefined && accessKey !== wanted) {
    throw new ResourceError(
      'Conflict',
      `Secret ${name} has the access key ${accessKey}, and ${kind} ${metadata.name} has ${wanted}: ` +
        'name another Secret in spec.credentialsSecret',
    );
  }
  return secretKey;
}

/** On a User or an AccessKey: the fingerprint of the secret key that the server takes from the Secret once, whatever it had. */
const takeAnnotation = 'coffer.dev/take-credentials';
const shownDigits = 16;

/**
 * Allows to give the server the secret key of the Secret in place of another one where the Secret was changed since the server
 * had its key, or the key of the server since it was set. Nothing is known of a Secret and a resource that a backup gave back: then
 * applications may use the key of the server, and neither is changed.
 *
 * @throws ResourceError `CredentialsDiffer` where nothing is known
 */
export function mustBeTakeable(
  resource: User | AccessKey,
  secretKey: string,
  { status, fingerprint }: Pick<ManagedContext, 'status' | 'fingerprint'>,
): void {
  const digest = fingerprint(secretKey).slice(0, shownDigits);
  if (status.credentials !== undefined || resource.metadata.annotations?.[takeAnnotation] === digest) return;
  throw new ResourceError(
    'CredentialsDiffer',
    `the tenant knows the access key "${accessKeyOf(resource)}" with another secret key than Secret ${credentialsSecretName(resource)} has, and ` +
      'applications may use either, so that nothing is changed: write the secret key that they use into the Secret, or let the tenant take that ' +
      `of the Secret: kubectl annotate ${kubectlArgument(resource)} --overwrite ${takeAnnotation}=${digest}`,
  );
}

const wrong = new Set(['SignatureDoesNotMatch', 'InvalidClientTokenId']);

/**
 * Reports whether the server accepts these keys. It never returns a secret key, but every caller may ask for its own identity. It refuses
 * disabled keys.
 *
 * @see https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
 */
export async function keysWork(
  endpoint: TenantEndpoint,
  keys: Pick<TenantEndpoint, 'accessKey' | 'secretKey'>,
  now: () => Date,
): Promise<boolean> {
  const { status, body } = await exchange(
    { ...endpoint, ...keys },
    {
      method: 'POST',
      path: '/',
      query: '',
      body: 'Action=GetCallerIdentity&Version=2011-06-15',
      contentType: 'application/x-www-form-urlencoded',
      service: 'sts',
      region: 'us-east-1',
    },
    now(),
  );
  if (status >= 200 && status < 300) return true;
  const code = readErrorDocument(body)?.code || `HTTP ${status}`;
  if (wrong.has(code)) return false;
  throw new ResponseError(code === 'AccessDenied' ? 'KeysNotAnswered' : code, 'it does not say whose the keys are', {
    status,
  });
}

/** Records that the server has the secret key of the Secret, since it was just given. */
export function rememberCredentials(
  secretKey: string,
  { remember, status, fingerprint }: Pick<ManagedContext, 'remember' | 'status' | 'fingerprint'>,
): Promise<void> {
  return remember({ ...status, credentials: fingerprint(secretKey) });
}

/** Returns the part of the status that says which secret key the server has. One that rests cannot be tried: what was known of it stays. */
export async function settledCredentials(
  resource: User | AccessKey,
  { credentials, fingerprint }: Pick<ManagedContext, 'credentials' | 'fingerprint'>,
): Promise<ManagedStatus> {
  if (resource.spec.disabled) return {};
  return { credentials: fingerprint(secretKeyOf(resource, await credentials())) };
}
