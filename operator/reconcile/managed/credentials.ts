import { ResourceError } from '../../api/resource-error.ts';
import { randomBytes } from 'node:crypto';
import type { AccessKey, Secret, User } from '../../api/object.ts';
import { exchange, type TenantEndpoint } from './signed-request.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

/** Name of the Secret with the keys of a User or an AccessKey. */
export function credentialsSecretName({ spec, metadata }: User | AccessKey): string {
  return spec.credentialsSecret?.name ?? `${metadata.name}-credentials`;
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
      `Secret ${name} has no key secretKey, which ${kind} ${metadata.name} needs: add it, or delete the Secret and one is made`,
    );
  }
  const wanted = accessKeyOf(resource);
  if (accessKey !== undefined && accessKey !== wanted) {
    throw new ResourceError(
      'Conflict',
      `Secret ${name} has the access key ${accessKey}, and ${kind} ${metadata.name} has ${wanted}: ` +
        'name another Secret in spec.credentialsSecret, or delete this one if nothing needs it',
    );
  }
  return secretKey;
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
  const code = /<Code>([A-Za-z]+)<\/Code>/.exec(body.toString())?.[1] ?? `HTTP ${status}`;
  if (wrong.has(code)) return false;
  throw new ResponseError(code === 'AccessDenied' ? 'KeysNotAnswered' : code, 'it does not say whose the keys are', {
    status,
  });
}
