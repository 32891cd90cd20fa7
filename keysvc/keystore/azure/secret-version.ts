/** A version of a secret, as a listing tells it. */
export interface SecretVersion {
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
