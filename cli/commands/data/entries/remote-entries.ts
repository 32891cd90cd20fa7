import type { ObjectEntry, VersionEntry } from '../../../../protocol/s3/responses.ts';
import { displayName, type RemoteTarget } from '../../../config/target.ts';
import { listBuckets } from '../../../s3/buckets.ts';
import type { S3Client } from '../../../s3/client.ts';
import { listObjects, listUploads, listVersions } from '../../../s3/list-objects.ts';
import type { Entry } from './entry.ts';

export interface Listing {
  /** False groups keys at the next `/`. */
  readonly recursive: boolean;
  /** Lists every version and delete marker, the newest of a key first. */
  readonly versions?: boolean | undefined;
  /** Lists what there was at this time. */
  readonly rewind?: Date | undefined;
  /** Lists uploads that are neither completed nor aborted instead of objects. */
  readonly incomplete?: boolean | undefined;
}

/**
 * Lists objects, versions, uploads or buckets in the order of their names. A key without a slash at its end means the object and the folder
 * of this name: `logs` does not match `logs-of-others`. Without `recursive` it is a folder if nothing else begins with it.
 */
export async function* remoteEntries(
  client: S3Client,
  target: RemoteTarget,
  listing: Listing,
): AsyncGenerator<Entry, void, undefined> {
  for await (const page of remoteEntryPages(client, target, listing)) for (const entry of page) yield entry;
}

/** The same entries, as many at once as the server sends. */
export async function* remoteEntryPages(
  client: S3Client,
  target: RemoteTarget,
  listing: Listing,
): AsyncGenerator<readonly Entry[], void, undefined> {
  if (target.bucket === '') {
    for (const bucket of await listBuckets(client)) {
      const inside = { ...target, bucket: bucket.name };
      if (!listing.recursive && listing.incomplete !== true) {
        yield [{ ...folderEntry(inside, '', `${bucket.name}/`), modified: bucket.created }];
        continue;
      }
      for await (const page of remoteEntryPages(client, inside, listing)) {
        yield page.map((entry) => ({ ...entry, name: `${bucket.name}/${entry.name}` }));
      }
    }
    return;
  }
  const { key } = target;
  const prefix = listing.recursive ? key : await folderOrName(client, target, listing);
  const isName = listing.recursive && key !== '' && !key.endsWith('/');
  for await (const page of pagesOf(client, target.bucket, prefix, listing)) {
    const entries: Entry[] = [];
    for (const listed of page) {
      const found = typeof listed === 'string' ? listed : listed.key;
      if (isName && found !== key && !found.startsWith(`${key}/`)) continue;
      const name = found.slice(shownFrom(key, found));
      entries.push(typeof listed === 'string' ? folderEntry(target, listed, name) : objectEntry(target, listed, name));
    }
    yield entries;
  }
}

type Listed = ObjectEntry | VersionEntry | UploadEntry;

interface UploadEntry extends ObjectEntry {
  readonly uploadId: string;
}

/** Yields common prefixes as texts, and objects, versions or uploads. */
async function* pagesOf(
  client: S3Client,
  bucket: string,
  prefix: string,
  { recursive, versions, rewind, incomplete }: Listing,
): AsyncGenerator<readonly (string | Listed)[], void, undefined> {
  if (incomplete === true) {
    for await (const { key, uploadId, initiated } of listUploads(client, { bucket, prefix, recursive })) {
      yield [{ key, uploadId, lastModified: initiated, size: 0, etag: '', storageClass: '' }];
    }
  } else if (versions === true) {
    for await (const page of listVersions(client, { bucket, prefix, recursive })) {
      yield rewind === undefined ? page : page.filter((one) => typeof one === 'string' || one.lastModified <= rewind);
    }
  } else if (rewind !== undefined) yield* pagesAt(client, { bucket, prefix, recursive }, rewind);
  else yield* listObjects(client, { bucket, prefix, recursive });
}

/** Yields the version of each key that was the latest at a time. */
async function* pagesAt(
  client: S3Client,
  listing: { readonly bucket: string; readonly prefix: string; readonly recursive: boolean },
  rewind: Date,
): AsyncGenerator<readonly (string | Listed)[], void, undefined> {
  let last: string | undefined;
  for await (const page of listVersions(client, listing)) {
    yield page.filter((one) => {
      if (typeof one === 'string') return true;
      if (one.lastModified > rewind || one.key === last) return false;
      last = one.key;
      return !one.deleteMarker;
    });
  }
}

/** Returns the prefix to list for `dir` without a slash: that of the folder, unless another name begins with it. */
async function folderOrName(client: S3Client, target: RemoteTarget, listing: Listing): Promise<string> {
  const { bucket, key } = target;
  if (key === '' || key.endsWith('/')) return key;
  const names = new Set<string>();
  for await (const page of pagesOf(client, bucket, key, { ...listing, recursive: false })) {
    for (const listed of page) names.add(typeof listed === 'string' ? listed : listed.key);
    if (names.size > 1) return key;
  }
  return names.has(`${key}/`) ? `${key}/` : key;
}

/** Returns the length of the part of a key that the argument already names. */
function shownFrom(key: string, found: string): number {
  const asFolder = key === '' || key.endsWith('/') ? key : `${key}/`;
  return found.startsWith(asFolder) && found !== asFolder ? asFolder.length : key.lastIndexOf('/') + 1;
}

function folderEntry(target: RemoteTarget, key: string, name: string): Entry {
  const { bucket } = target;
  const display = displayName(target, key);
  return { kind: 'folder', name, display, bucket, key, size: 0, modified: new Date(), etag: '' };
}

function objectEntry(target: RemoteTarget, listed: Listed, name: string): Entry {
  const { key, size, lastModified, etag, storageClass } = listed;
  return {
    kind: 'file',
    name,
    display: displayName(target, key),
    bucket: target.bucket,
    key,
    size,
    modified: lastModified,
    etag,
    ...(storageClass !== '' && { storageClass }),
    ...('versionId' in listed && {
      version: { id: listed.versionId, latest: listed.latest, deleteMarker: listed.deleteMarker },
    }),
    ...('uploadId' in listed && { uploadId: listed.uploadId }),
  };
}
