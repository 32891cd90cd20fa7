import type { KeyDescription } from '../../protocol/admin/keys.ts';
import { type KeySource } from '../encryption/key-source.ts';
import { rotateActions } from '../maintenance/batch/job-rights.ts';
import { keyNameError } from '../../protocol/key-service/names.ts';
import { adminError } from './admin-error.ts';
import { describeOutage, KeyServiceError } from '../../platform/key-service/exchange.ts';

/**
 * Key management for administrators. Each call rejects with an error whose `code` is one of the key-service protocol (`key-exists`,
 * `not-permitted`, `not-supported`, …).
 */
export interface KeyAdministration {
  /** The name of the key store for `mc admin kms status`. */
  readonly name: string;
  /** Empty for the server's own key. */
  readonly endpoints: readonly string[];
  readonly source: KeySource;
  /** Reports whether one of the endpoints answers. Never rejects. */
  answers(endpoint: string): Promise<boolean>;
  createKey(name: string): Promise<void>;
  /** Imports 32 bytes of an AES-256 key. */
  importKey(name: string, bytes: Buffer): Promise<void>;
  /** Creates a version of a key, which encrypts from now on; resolves with its ID. */
  rotateKey(name: string): Promise<string>;
  describeKey(name: string): Promise<KeyDescription>;
  /** Lists names with the prefix, sorted. */
  listKeys(prefix: string): Promise<readonly string[]>;
  /** Deletes a key for ever: all data encrypted with it is lost. */
  deleteKey(name: string): Promise<void>;
  /** The version of the key service. */
  version(): Promise<string>;
  /** The calls of the key service. */
  apis(): Promise<readonly KeyServiceApi[]>;
  /** The metrics of the key service in the text format of Prometheus. */
  metrics(): Promise<string>;
}

interface KeyServiceApi {
  readonly method: string;
  readonly path: string;
  /** Bytes. */
  readonly maxBody: number;
  /** Seconds. */
  readonly timeout: number;
}

/** Key management for the key of `SVC_KMS_SECRET_KEY`. */
export function staticKey(source: KeySource): KeyAdministration {
  const refuse = () =>
    Promise.reject(
      adminError(
        'KMSNotSupported',
        `SVC_KMS_SECRET_KEY gives the key ${source.defaultKey} alone: several keys need a key service (SVC_KMS_KEYSVC_ENDPOINT)`,
      ),
    );
  return {
    name: 'SecretKey',
    endpoints: [],
    source,
    answers: () => Promise.resolve(false),
    createKey: refuse,
    importKey: refuse,
    rotateKey: refuse,
    async describeKey(name) {
      await source.checkKey(name);
      return { algorithm: 'AES256', versions: [] };
    },
    deleteKey: refuse,
    version: refuse,
    apis: refuse,
    metrics: refuse,
    listKeys: (prefix) => Promise.resolve(source.defaultKey.startsWith(prefix) ? [source.defaultKey] : []),
  };
}

/** `online` when the key service answers and has the default key. */
export type KeyServiceState = 'online' | 'offline' | 'disabled';

/**
 * The rights to keys, by the name that has keys as its resource and by the older one of the admin API. A statement with either name, and
 * keys as its Resource, allows or denies those keys.
 */
export const keyRights = {
  status: ['admin:KMSKeyStatus', 'kms:Status'],
  keyStatus: ['admin:KMSKeyStatus', 'kms:KeyStatus'],
  create: ['admin:KMSCreateKey', 'kms:CreateKey'],
  import: ['admin:KMSImportKey', 'kms:ImportKey'],
  list: ['admin:KMSListKeys', 'kms:ListKeys'],
  delete: ['admin:KMSDeleteKey', 'kms:DeleteKey'],
  rotate: rotateActions,
  version: ['admin:KMSKeyStatus', 'kms:Version'],
  apis: ['admin:KMSKeyStatus', 'kms:API'],
  metrics: ['admin:KMSKeyStatus', 'kms:Metrics'],
} as const;

/** Returns the key that a call names; '' if none. */
export function keyNameOf({ query }: { readonly query: URLSearchParams }): string {
  return query.get('key-id') ?? '';
}

/** Returns the keys that the caller may list. */
export async function listableKeys(
  call: { allows(action: readonly string[], resource: string): Promise<boolean> },
  names: readonly string[],
): Promise<readonly string[]> {
  const shown: string[] = [];
  for (const name of names) if (await call.allows(keyRights.list, name)) shown.push(name);
  return shown;
}

/** Returns the key management; throws a `RequestError` if there is none. */
export function requireKeys({
  services,
}: {
  readonly services: { readonly keys?: KeyAdministration };
}): KeyAdministration {
  if (services.keys !== undefined) return services.keys;
  throw adminError(
    'KMSNotConfigured',
    'No key service is configured; set SVC_KMS_KEYSVC_ENDPOINT, or SVC_KMS_SECRET_KEY.',
  );
}

/** Reports whether the key service answers and has the default key. Never rejects. */
export async function keyServiceState(keys: KeyAdministration | undefined): Promise<KeyServiceState> {
  if (keys === undefined) return 'disabled';
  try {
    await keys.source.check();
    return 'online';
  } catch {
    return 'offline';
  }
}

/** An endpoint is `online` when it answers, and the default key is there. */
export async function keyServiceStatus(keys: KeyAdministration): Promise<Record<string, unknown>> {
  const [state, ...answers] = await Promise.all([
    keyServiceState(keys),
    ...keys.endpoints.map((endpoint) => keys.answers(endpoint)),
  ]);
  const stateOf = (at: number): KeyServiceState => (state === 'online' && answers[at] !== true ? 'offline' : state);
  return {
    name: keys.name,
    'default-key-id': keys.source.defaultKey,
    endpoints: Object.fromEntries(keys.endpoints.map((endpoint, at) => [endpoint, stateOf(at)])),
  };
}

/** Reports for each endpoint of the key service whether it answers. Never rejects. */
export async function keyServerStates(
  keys: Pick<KeyAdministration, 'endpoints' | 'answers'> | undefined,
): Promise<Readonly<Record<string, 'online' | 'offline'>>> {
  const { endpoints = [] } = keys ?? {};
  const states = await Promise.all(
    endpoints.map(
      async (endpoint) => [endpoint, (await keys?.answers(endpoint)) === true ? 'online' : 'offline'] as const,
    ),
  );
  return Object.fromEntries(states);
}

/** Tests encryption and decryption with a key, and whether it opens what was sealed under its name. Errors are part of the answer, as `mc admin kms key status` shows them. */
export async function keyStatus(source: KeySource, name: string): Promise<Record<string, string>> {
  const context = { purpose: 'key-status' };
  try {
    const key = await source.generate(name, context, { probe: true });
    try {
      const opened = await source.unseal(key.sealed, context);
      if (!opened.equals(key.plaintext)) {
        return { 'key-id': name, 'decryption-error': 'the key decrypts to something else' };
      }
      await source.proveKey(name);
      return { 'key-id': name };
    } catch (error) {
      return { 'key-id': name, 'decryption-error': reasonOf(error) };
    }
  } catch (error) {
    return { 'key-id': name, 'encryption-error': reasonOf(error) };
  }
}

/** Throws a `RequestError` for an invalid name. */
export function checkKeyName(name: string): string {
  const issue = keyNameError(name);
  if (issue === undefined) return name;
  throw adminError('XMinioKMSInvalidKeyName', `key-id is not a key name: ${issue}; 1 to 80 of A-Z a-z 0-9 _ -.`);
}

/** Calls the key service and translates its errors for administrators. */
export async function askKeyService<T>(what: KeyCall, name: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw asAdminError(error, what, name);
  }
}

/** Asks the key service about itself, not about a key, and translates its errors for administrators. */
export async function askAboutKeyService<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof KeyServiceError && error.code === 'not-permitted') {
      const message = `The key service does not let this server call ${path}; allow it in its policy.`;
      throw adminError('KMSNotPermitted', message, { cause: error });
    }
    throw asAdminError(error, 'describe', '');
  }
}

type KeyCall = 'create' | 'import' | 'rotate' | 'describe' | 'list' | 'delete' | 'generate';

/** An error of the key service, whose status is undefined without an answer, or of keys that this server has itself. */
type Failure = Error & { readonly code?: unknown; readonly status?: unknown };

function asAdminError(error: unknown, what: KeyCall, name: string): unknown {
  const failure = error instanceof Error ? (error as Failure) : undefined;
  const options = { cause: error };
  switch (failure?.code) {
    case 'key-exists':
      return adminError('XMinioKMSKeyExists', `The key ${name} exists already.`, options);
    case 'key-not-found':
      return adminError('XMinioKMSKeyNotFound', `There is no key ${name} at the key service.`, options);
    case 'not-permitted':
      return adminError(
        'KMSNotPermitted',
        `The key service does not let this server ${what} the key ${name}; allow /v1/key/${what}/${name} in its policy.`,
        options,
      );
    case 'not-supported':
      return adminError('KMSNotSupported', failure.message, options);
    case 'unavailable':
      return adminError('KMSUnavailable', describeOutage(failure), options);
    default:
      return error;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof KeyServiceError ? error.message : 'the key service failed';
}
