import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { ObjectPage } from '../../../../contract/answers.ts';
import { bucketPath } from '../../api/buckets.ts';
import { call } from '../../api/call.ts';
import { useObjectChanges } from '../../api/changes.ts';
import { listVersions } from '../../api/versions.ts';
import { beforeKey } from './before-key.ts';
import { PageStore, type Page } from './page-store.ts';
import { mergedRows, type Row } from './rows.ts';

interface ListingOptions {
  readonly bucket: string;
  /** All rows begin with it. */
  readonly prefix: string;
  /** The folder of the page, whose own marker object is no row. */
  readonly folder: string;
  readonly versions: boolean;
  /** The key to begin with; empty for the first one. */
  readonly from: string;
}

/** The rows of a folder, loaded as the user scrolls. A change of the bucket's objects loads them again. */
export function useListing({ bucket, prefix, folder, versions, from }: ListingOptions): PageStore<Row> {
  const changes = useObjectChanges(bucket);
  const store = useMemo(() => {
    const start = from === '' ? '' : beforeKey(from);
    const load = versions
      ? (cursor: string, signal: AbortSignal) => versionPage({ bucket, prefix, folder }, cursor, signal)
      : (cursor: string, signal: AbortSignal) => objectPage({ bucket, prefix, folder }, cursor, signal);
    return new PageStore<Row>(load, versions && start !== '' ? JSON.stringify([start]) : start);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- `changes` makes a new store
  }, [bucket, prefix, folder, versions, from, changes]);
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
