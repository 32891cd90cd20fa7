import type { VersionEntry } from '../../../../protocol/s3/responses.ts';
import type { ListedPage } from '../../../s3/list-objects.ts';
import { compareNames, joinPages, type Pages } from '../../data/entries/join-entries.ts';

/** A version that the source, the target, or both list. */
export interface VersionPair {
  readonly source?: VersionEntry;
  readonly target?: VersionEntry;
}

/**
 * Joins the listings of two sides in the order of their keys, the newest version of a key first. It holds one page of each. Versions of one
 * millisecond that the sides list in different orders may come apart: the caller looks at what only one side has again.
 */
export async function* joinVersions(
  source: AsyncIterable<ListedPage<VersionEntry>>,
  target: AsyncIterable<ListedPage<VersionEntry>>,
): AsyncGenerator<VersionPair, void, undefined> {
  for await (const { first, second } of joinPages(versionsOf(source), versionsOf(target), compareVersions)) {
    yield { ...(first && { source: first }), ...(second && { target: second }) };
  }
}

/** A listing without a delimiter has no common prefixes. */
async function* versionsOf(pages: AsyncIterable<ListedPage<VersionEntry>>): Pages<VersionEntry> {
  for await (const page of pages) yield page.filter((one) => typeof one !== 'string');
}

function compareVersions(one: VersionEntry, other: VersionEntry): number {
  const byKey = compareNames(one.key, other.key);
  if (byKey !== 0) return byKey;
  const byTime = other.lastModified.getTime() - one.lastModified.getTime();
  return byTime !== 0 ? byTime : compareNames(plainId(one.versionId), plainId(other.versionId));
}

/** Returns a version id as both sides have it: MinIO writes 32 hexadecimal digits as a UUID. */
export function plainId(versionId: string): string {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(versionId) ? versionId.replaceAll('-', '') : versionId;
}
