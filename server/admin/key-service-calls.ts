import { keyNameProblem } from '../../protocol/key-service/names.ts';
import { KeySourceError } from '../encryption/key-source.ts';
import type { KeySource } from '../encryption/key-source.ts';
import { AdminError } from './admin-error.ts';
import type { KeyAdministration } from './key-administration.ts';

/** `online` when the key service answers and has the default key. */
export type KeyServiceState = 'online' | 'offline' | 'disabled';

/**
 * The rights to keys, each by the name that says its key and by the older one of the admin API. A statement of either kind with keys as
 * its Resource gives, or denies, those keys.
 */
export const keyRights = {
  status: ['admin:KMSKeyStatus', 'kms:Status'],
  keyStatus: ['admin:KMSKeyStatus', 'kms:KeyStatus'],
  create: ['admin:KMSCreateKey', 'kms:CreateKey'],
  import: ['admin:KMSImportKey', 'kms:ImportKey'],
  list: ['admin:KMSListKeys', 'kms:ListKeys'],
  delete: ['admin:KMSDeleteKey', 'kms:DeleteKey'],
  rotate: ['admin:KMSRotateKey', 'kms:RotateKey'],
} as const;

/** The key that a call names; '' where it names none. */
export function keyNamed({ query }: { readonly query: URLSearchParams }): string {
  return query.get('key-id') ?? '';
}

/** Those that the caller may list. */
export async function listable(
  call: { allows(action: readonly string[], resource: string): Promise<boolean> },
  names: readonly string[],
): Promise<readonly string[]> {
  const shown: string[] = [];
  for (const name of names) if (await call.allows(keyRights.list, name)) shown.push(name);
  return shown;
}

/** Rejects with an `AdminError` where there are no keys. */
export function configured({
  services,
}: {
  readonly services: { readonly keys?: KeyAdministration };
}): KeyAdministration {
  if (services.keys !== undefined) return services.keys;
  throw new AdminError(
    'KMSNotConfigured',
    'No key service is configured; set SVC_KMS_KEYSVC_ENDPOINT, or SVC_KMS_SECRET_KEY.',
  );
}

/** Whether the key service answers and has the default key. Never rejects: the state is the answer. */
export async function keyServiceState(keys: KeyAdministration | undefined): Promise<KeyServiceState> {
  if (keys === undefined) return 'disabled';
  try {
    await keys.source.check();
    return 'online';
  } catch {
    return 'offline';
  }
}

export async function keyServiceStatus(keys: KeyAdministration): Promise<Record<string, unknown>> {
  const state = await keyServiceState(keys);
  return {
    name: keys.name,
    'default-key-id': keys.source.defaultKey,
    endpoints: Object.fromEntries(keys.endpoints.map((endpoint) => [endpoint, state])),
  };
}

/** Whether a key encrypts and decrypts; refusals are part of the answer, as `mc admin kms key status` shows them. */
export async function keyStatus(source: KeySource, name: string): Promise<Record<string, string>> {
  const context = { purpose: 'key-status' };
  try {
    const key = await source.generate(name, context, { once: true });
    try {
      const opened = await source.unseal(key.sealed, context);
      if (opened.equals(key.plaintext)) return { 'key-id': name };
      return { 'key-id': name, 'decryption-error': 'the key decrypts to something else' };
    } catch (error) {
      return { 'key-id': name, 'decryption-error': reasonOf(error) };
    }
  } catch (error) {
    return { 'key-id': name, 'encryption-error': reasonOf(error) };
  }
}

/** Rejects with an `AdminError`. */
export function checkKeyName(name: string): string {
  const problem = keyNameProblem(name);
  if (problem === undefined) return name;
  throw new AdminError('XMinioKMSInvalidKeyName', `key-id is not a key name: ${problem}; 1 to 80 of A-Z a-z 0-9 _ -.`);
}

/** Makes a call of the key service for an administrator, who is told what the key service lacks. */
export async function askKeyService<T>(what: KeyCall, name: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw asAdminError(error, what, name);
  }
}

export type KeyCall = 'create' | 'import' | 'rotate' | 'list' | 'delete' | 'generate';

function asAdminError(error: unknown, what: KeyCall, name: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const options = { cause: error };
  switch (code) {
    case 'key-exists':
      return new AdminError('XMinioKMSKeyExists', `The key ${name} exists already.`, options);
    case 'key-not-found':
      return new AdminError('XMinioKMSKeyNotFound', `There is no key ${name} at the key service.`, options);
    case 'not-permitted':
      return new AdminError(
        'KMSNotPermitted',
        `The key service does not let this server ${what} the key ${name}; allow /v1/key/${what}/${name} in its policy.`,
        options,
      );
    case 'not-supported':
      return new AdminError('KMSNotSupported', error instanceof Error ? error.message : '', options);
    case 'unavailable':
      return new AdminError('KMSUnavailable', 'The key service cannot be reached; try again.', options);
    default:
      return error;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof KeySourceError ? error.message : 'the key service failed';
}
