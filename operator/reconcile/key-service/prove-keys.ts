import { randomBytes } from 'node:crypto';
import {
  KeyServiceError,
  openKeyServiceClient,
  type KeyServiceClient,
  type KeyServiceClientOptions,
} from '../../../platform/key-service/client.ts';
import { createLogger } from '../../../platform/output/logger.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { KMSConfig } from '../../api/object.ts';
import { keyProofCertificate, keyServiceClientCertificate } from '../../render/certificates.ts';
import type { KeyMove } from '../reconciler-options.ts';

/** Opens a client of a KMSConfig's key service with one of its client certificates; undefined while that is not made. */
export type OpenKeyService = (kms: KMSConfig, certificate: string) => Promise<KeyServiceClient | undefined>;

/** Opens a client of the key service at an address. */
export type ConnectKeyService = (
  options: Pick<KeyServiceClientOptions, 'endpoints' | 'credentials' | 'enclave'>,
) => Promise<KeyServiceClient>;

/** Milliseconds for one call. A reconcile waits for it. */
const timeoutMs = 3_000;

const silent = createLogger({ name: 'key-proof', level: 'silent' });

/** A condition of the tenant reports the result, so the client logs nothing. */
export const connectKeyService: ConnectKeyService = (options) =>
  openKeyServiceClient({ ...options, timeoutMs, log: silent });

/** A key service with the name of its KMSConfig. */
interface Asked {
  readonly name: string;
  readonly client: KeyServiceClient;
}

/** Number of key names that a condition lists. */
const maxNames = 5;

/**
 * Asks the current key service to encrypt a random data key with each key that the tenant can use, and the other key service to decrypt it,
 * which only the same key can. The operator uses the tenant's certificate for the first and its own for the second. Returns why the keys
 * are not proven, or undefined when they are.
 */
export async function proveKeys(move: KeyMove, openKeyService: OpenKeyService): Promise<string | undefined> {
  const { from, to, tenant, keyPrefix } = move;
  const opened: KeyServiceClient[] = [];
  const open = async (kms: KMSConfig, certificate: string): Promise<Asked | string> => {
    const client = await openKeyService(kms, certificate);
    if (client === undefined) return `the certificate for KMSConfig ${kms.metadata.name} is not made yet`;
    opened.push(client);
    return { name: kms.metadata.name, client: client.once() };
  };
  try {
    const source = await open(from, keyServiceClientCertificate(tenant));
    if (typeof source === 'string') return source;
    const target = await open(to, keyProofCertificate(to.metadata.name));
    if (typeof target === 'string') return target;
    return await compareKeys(source, target, keyPrefix);
  } finally {
    for (const client of opened) client.close();
  }
}

/** Returns which keys of a prefix the target lacks or has with other values; undefined when it has them all. */
export async function compareKeys(source: Asked, target: Asked, keyPrefix: string): Promise<string | undefined> {
  const missing: string[] = [];
  const different: string[] = [];
  try {
    for (const name of await asking(source, (client) => client.listKeys(keyPrefix))) {
      const outcome = await compareKey(source, target, name);
      if (outcome === 'missing') missing.push(name);
      if (outcome === 'different') different.push(name);
    }
  } catch (error) {
    if (error instanceof ProgramError) return error.message;
    throw error;
  }
  const problems = [
    ...(missing.length === 0 ? [] : [`it lacks ${namesOf(missing)}`]),
    ...(different.length === 0 ? [] : [`it holds other keys of the names ${namesOf(different)}`]),
  ];
  return problems.length === 0 ? undefined : problems.join(', and ');
}

async function compareKey(source: Asked, target: Asked, name: string): Promise<'same' | 'missing' | 'different'> {
  const context = randomBytes(16);
  const challenge = await asking(source, (client) => client.generateKey(name, context));
  const known = await asking(source, (client) => client.describeKey(name));
  try {
    const plaintext = await asking(target, (client) => client.decryptKey(name, challenge.ciphertext, context));
    if (!plaintext.equals(challenge.plaintext)) return 'different';
  } catch (error) {
    if (!(error instanceof KeyServiceError)) throw error;
    return error.code === 'key-not-found' ? 'missing' : 'different';
  }
  // The newest version encrypts the challenge. For older versions the IDs are compared, which every ciphertext names.
  const versions = known.versions ?? [];
  if (versions.length < 2) return 'same';
  const found = await asking(target, (client) => client.describeKey(name));
  return versions.every((version) => found.versions?.includes(version) === true) ? 'same' : 'different';
}

/** Errors with a `KeyServiceError` when the answer is about the key, else with a `ProgramError`. */
async function asking<T>({ name, client }: Asked, call: (client: KeyServiceClient) => Promise<T>): Promise<T> {
  try {
    return await call(client);
  } catch (error) {
    if (error instanceof KeyServiceError && (error.code === 'key-not-found' || error.code === 'not-authentic')) {
      throw error;
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new ProgramError('failed', `KMSConfig ${name} cannot be asked for its keys: ${why}`, { cause: error });
  }
}

function namesOf(names: readonly string[]): string {
  const listed = names.slice(0, maxNames).join(', ');
  return names.length > maxNames ? `${listed} and ${names.length - maxNames} more` : listed;
}
