import type { SecretProperties } from '@azure/keyvault-secrets';
import { KeyStoreError } from '../keystore.ts';
import type { AzureVault } from './azure-vault.ts';

/** A version of a secret, as a listing tells it. */
interface SecretVersion {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
}

/** Seconds after its own until nothing older than a version can come any more: the vault's servers may differ by one. */
const settledAfterSeconds = 2;

/**
 * The version that counts. Azure has no "create if there is none": each of several creators makes a version, and times are of whole
 * seconds. Every server takes the oldest, of those of one second the one whose ID is the smallest.
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
 * Milliseconds until a version can lose its place to none that is still on its way, by the vault's own clock; 0 when it is settled.
 * Before that nobody may use its bytes: what they sealed could never be opened.
 */
export function settlesInMs(version: SecretVersion, vaultNow: number): number {
  return Math.max(0, (version.created + settledAfterSeconds) * 1000 - vaultNow);
}

/** The name as it was given: the vault takes `KEY` and `key` for the same, and the policies of a key service do not. */
export const nameTag = 'key-name';

interface Versions {
  readonly all: readonly SecretVersion[];
  /** The vault's own time before it looked: that of the first page, where there are many. */
  readonly vaultNow: number;
}

/** The ID of the version that counts, once no other can come before it; undefined where there is no such key. */
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

/** Every version of a key; none where there is no such key. */
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
  if (outcome.refusal.status === 404) return { all: [], vaultNow };
  throw vault.error({ permission: 'List', key: name }, outcome.refusal);
}

function versionOf(vault: AzureVault, name: string, properties: SecretProperties): SecretVersion {
  const given = keyNameOf(properties);
  if (given !== name) {
    throw new KeyStoreError(
      'refused',
      `the key vault ${vault.endpoint} holds "${given}", which differs from the key "${name}" only in case: ` +
        'Azure Key Vault takes them for one name',
    );
  }
  const { version, createdOn } = properties;
  // Without its time nobody could say which is the oldest.
  if (version === undefined || createdOn === undefined) {
    throw new KeyStoreError('unavailable', `the key vault ${vault.endpoint} tells no time of a version of "${name}"`);
  }
  return { id: version, created: createdOn.getTime() / 1000 };
}

/** The name of a key, from what a listing tells. */
export function keyNameOf({ name, tags }: SecretProperties): string {
  return tags?.[nameTag] ?? name;
}
