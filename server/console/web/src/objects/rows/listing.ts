import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { ObjectPage } from '../../../../contract/answers.ts';
import { bucketPath } from '../../api/buckets.ts';
import { call } from '../../api/call.ts';
import { useObjectChanges } from '../../api/changes.ts';
import { listVersions } from '../../api/versions.ts';
import { beforeKey } from './before-key.ts';
import { currentAt } from '../rewind/current-at.ts';
import { PageStore, type Page } from './page-store.ts';
import { mergedRows, type Row } from './rows.ts';

interface ListingOptions {
  readonly bucket: string;
  /** All rows begin with it. */
  readonly prefix: string;
  /** The folder of the page, whose own marker object is no row. */
  readonly folder: string;
  readonly versions: boolean;
  /** Shows the objects that were current at this moment, in milliseconds since 1970. */
  readonly moment?: number | undefined;
  /** The key to begin with; empty for the first one. */
  readonly from: string;
}

/** The rows of a folder, loaded as the user scrolls. A change of the bucket's objects loads them again. */
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
  useSyncExternalStore(store.subscribe, store.version);
  return store;
}

interface Folder {
  readonly bucket: string;
  readonly prefix: string;
  readonly folder: string;
}

async function objectPage({ bucket, prefix, folder }: Folder, after: string, signal: AbortSignal): Promise<Page<Row>> {
  const query = { prefix, after, limit: '1000' };
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
