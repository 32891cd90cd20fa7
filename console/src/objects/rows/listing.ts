import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { ObjectPage } from '../../../../protocol/console/answers.ts';
import { bucketPath } from '../../api/buckets.ts';
import { call } from '../../api/call.ts';
import { useObjectChanges } from '../../api/changes.ts';
import { listVersions } from '../../api/versions.ts';
import { beforeKey } from './before-key.ts';
import { currentAt } from '../rewind/current-at.ts';
import { keptPages, PageStore, type Page } from './page-store.ts';
import { maxArranged, mergedRows, type Row } from './rows.ts';

interface ListingOptions {
  readonly bucket: string;
  /** All rows begin with it. */
  readonly prefix: string;
  /** The folder of the page, whose own marker object is not a row. */
  readonly folder: string;
  readonly versions: boolean;
  /** Shows the objects that were current at this moment, in milliseconds since 1970. */
  readonly moment?: number | undefined;
  /** The key to begin with; empty for the first one. */
  readonly from: string;
}

/** Rows of a page. */
const pageRows = 1_000;

/**
 * The rows of a folder, loaded as the user scrolls. A change of the bucket's objects loads them again; the earlier rows stay until
 * then.
 */
export function useListing({ bucket, prefix, folder, versions, moment, from }: ListingOptions): PageStore<Row> {
  const changes = useObjectChanges(bucket);
  const store = useMemo(() => {
    const start = from === '' ? '' : beforeKey(from);
    const place = { bucket, prefix, folder };
    if (moment !== undefined) {
      return new PageStore<Row>((cursor, signal) => pastPage(place, moment, cursor, signal), pastCursor(start));
    }
    const pageOf = versions ? versionPage : objectPage;
    const first = versions && start !== '' ? JSON.stringify([start]) : start;
    return new PageStore<Row>((cursor, signal) => pageOf(place, cursor, signal), first);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- `changes` makes a new store
  }, [bucket, prefix, folder, versions, moment, from, changes]);
  useEffect(() => {
    store.ensure(0, 0);
    return () => store.close();
  }, [store]);
  const version = useSyncExternalStore(store.subscribe, store.version);
  return useLoaded(store, version, JSON.stringify([bucket, prefix, folder, versions, moment, from]));
}

/**
 * Returns the earlier store of the same place until the new one has the rows that the user looks at: a list that is short for a moment would
 * move the window to its top.
 */
function useLoaded(store: PageStore<Row>, version: number, place: string): PageStore<Row> {
  const [shown, setShown] = useState({ store, place });
  const wanted = rowsToReplace(shown.store);
  const follows = shown.store !== store;
  useEffect(() => {
    if (follows) store.ensure(0, wanted);
  }, [follows, store, version, wanted]);
  if (!follows) return store;
  if (shown.place === place && !store.reaches(wanted)) return shown.store;
  setShown({ store, place });
  return store;
}

/** The row up to which a list is loaded before it replaces this one. */
function rowsToReplace({ count, complete, reach }: PageStore<Row>): number {
  if (count === 0 && !complete) return -1;
  // A short folder is sorted, for which it must be whole. What is far down would take a request for each page before it.
  return Math.min(count <= maxArranged ? maxArranged : reach, keptPages * pageRows);
}

interface Folder {
  readonly bucket: string;
  readonly prefix: string;
  readonly folder: string;
}

async function objectPage({ bucket, prefix, folder }: Folder, after: string, signal: AbortSignal): Promise<Page<Row>> {
  const query = { prefix, after, limit: String(pageRows) };
  const page = await call<ObjectPage>('GET', `${bucketPath(bucket)}/objects`, { query, signal });
  const objects = page.objects.filter(({ key }) => key !== folder);
  const rows = objects.map((object): Row => ({ kind: 'object', key: object.key, object }));
  return { rows: mergedRows(page.folders, rows), next: page.next };
}

async function versionPage(
  { bucket, prefix, folder }: Folder,
  cursor: string,
  signal: AbortSignal,
): Promise<Page<Row>> {
  const page = await listVersions(bucket, { prefix, delimiter: '/', cursor, signal });
  const versions = page.versions.filter(({ key }) => key !== folder);
  const rows = versions.map((version): Row => ({ kind: 'version', key: version.key, version }));
  return { rows: mergedRows(page.folders, rows), next: page.next };
}

/** The place in the versions, and the last key of which the version of the moment is known. */
interface PastCursor {
  readonly cursor: string;
  readonly decided?: string | undefined;
}

function pastCursor(start: string): string {
  return start === '' ? '' : JSON.stringify({ cursor: JSON.stringify([start]) } satisfies PastCursor);
}

/** A folder that has versions shows also where it was empty then: only a walk through it could find that out. */
async function pastPage(
  { bucket, prefix, folder }: Folder,
  moment: number,
  place: string,
  signal: AbortSignal,
): Promise<Page<Row>> {
  const { cursor, decided } = place === '' ? { cursor: '' } : (JSON.parse(place) as PastCursor);
  const page = await listVersions(bucket, { prefix, delimiter: '/', cursor, signal });
  const found = currentAt(page.versions, moment, decided);
  const rows = found.versions
    .filter(({ key }) => key !== folder)
    .map((version): Row => ({ kind: 'version', key: version.key, version }));
  const next = page.next === undefined ? undefined : { cursor: page.next, decided: found.decided };
  return { rows: mergedRows(page.folders, rows), next: next && JSON.stringify(next satisfies PastCursor) };
}
