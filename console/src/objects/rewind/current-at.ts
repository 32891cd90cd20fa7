import type { VersionRow } from '../../api/versions.ts';

interface CurrentVersions {
  /** The versions that were current, without delete markers. */
  readonly versions: readonly VersionRow[];
  /** The last key of which the version is known, for the next page. */
  readonly decided: string | undefined;
}

/**
 * Picks of each key the version that was current at a moment. The versions are a page of a listing, which has those of a key from the newest
 * to the oldest and may go on with the same key in the next page.
 *
 * @param moment milliseconds since 1970
 * @param decided the `decided` of the page before
 */
export function currentAt(page: readonly VersionRow[], moment: number, decided?: string): CurrentVersions {
  const versions: VersionRow[] = [];
  let last = decided;
  for (const version of page) {
    if (version.key === last || Date.parse(version.lastModified) > moment) continue;
    last = version.key;
    // A deleted key had no object.
    if (version.kind === 'version') versions.push(version);
  }
  return { versions, decided: last };
}

/** Reads the parameter `at` of the page; undefined where it is absent or is no time. */
export function momentOf(at: string | null): Date | undefined {
  const moment = new Date(at ?? '');
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}
