import type { SecretProperties } from '@azure/keyvault-secrets';
import { KeyError } from '../keystore.ts';
import { isSecretMissing } from './azure-errors.ts';
import type { AzureVault } from './azure-vault.ts';

/** A version of a secret in a listing. */
interface SecretVersion {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
}

/** Seconds until no older version can appear. The clocks of the vault's servers may differ by one. */
const settledAfterSeconds = 2;

/**
 * Returns the valid version. Azure has no conditional create, so each of several creators makes a version, with a time in whole seconds.
 * Every server takes the oldest; within one second that with the smallest ID.
 */
export function oldestOf(versions: Iterable<SecretVersion>): SecretVersion | undefined {
  let oldest: SecretVersion | undefined;
  for (const version of versions) {
    if (oldest === undefined || isOlder(version, oldest)) oldest = version;
  }
  return oldest;
}

function isOlder(a: SecretVersion, b: SecretVersion): boolean {
  return a.created === b.created ? a.id < b.id : a.created < b.created;
}

/**
 * Milliseconds until no concurrent write can replace the version, by the clock of the vault; 0 when it is settled. Its bytes must not be
 * used before: their ciphertexts could become undecryptable.
 */
export function settlesInMs(version: SecretVersion, vaultNow: number): number {
  return Math.max(0, (version.created + settledAfterSeconds) * 1000 - vaultNow);
}

/** The original name. The vault ignores case, and the policies of a key service do not. */
export const nameTag = 'key-name';

interface Versions {
  readonly all: readonly SecretVersion[];
  /** The time of the vault before the listing, which is that of the first page. */
  readonly vaultNow: number;
}

/** Returns the ID of the valid version when no other can precede it; undefined where the key does not exist. */
export async function settledVersion(vault: AzureVault, name: string): Promise<string | undefined> {
  for (;;) {
    const { all, vaultNow } = await versionsOf(vault, name);
    const oldest = oldestOf(all);
    if (oldest === undefined) return undefined;
    const wait = settlesInMs(oldest, vaultNow);
    if (wait === 0) return oldest.id;
    await vault.remote.clock.sleep(wait);
  }
}

/** Lists every version of a key. */
export async function versionsOf(vault: AzureVault, name: string): Promise<Versions> {
  let vaultNow = vault.remote.clock.now();
  const outcome = await vault.attempt((secrets) => {
    const options = {
      onResponse: ({ headers }: { headers: { get(name: string): string | undefined } }) => {
        const date = Date.parse(headers.get('date') ?? '');
        if (!Number.isNaN(date)) vaultNow = date;
      },
    };
    return Array.fromAsync(secrets.listPropertiesOfSecretVersions(name, options));
  });
  if ('value' in outcome) return { all: outcome.value.map((version) => versionOf(vault, name, version)), vaultNow };
  if (isSecretMissing(outcome.refusal)) return { all: [], vaultNow };
  throw vault.error({ permission: 'List', key: name }, outcome.refusal);
}

function versionOf(vault: AzureVault, name: string, properties: SecretProperties): SecretVersion {
  const given = keyNameOf(properties);
  if (given !== name) {
    throw new KeyError(
      'refused',
      `the key vault ${vault.endpoint} holds "${given}", which differs from the key "${name}" only in case: ` +
        'Azure Key Vault takes them for one name',
    );
  }
  const { version, createdOn } = properties;
  // A version without a time cannot be ordered.
  if (version === undefined || createdOn === undefined) {
    throw new KeyError('unavailable', `the key vault ${vault.endpoint} tells no time of a version of "${name}"`);
  }
  return { id: version, created: createdOn.getTime() / 1000 };
}

/** Returns the name of a key in a listing. */
export function keyNameOf({ name, tags }: SecretProperties): string {
  return tags?.[nameTag] ?? name;
}
