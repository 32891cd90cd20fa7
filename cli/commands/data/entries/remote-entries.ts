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
 * of this name: with `recursive`, `logs` does not match `logs-of-others`. Where neither exists, it is the beginning of names, as in other clients.
 * Without `recursive` it is the folder, unless there is an object of this name.
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
    yield* bucketPages(client, target, listing);
    return;
  }
  const { key } = target;
  const kind = key === '' || key.endsWith('/') ? 'folder' : await placeKind(client, target, listing);
  const prefix = kind === 'folder' && key !== '' && !key.endsWith('/') ? `${key}/` : key;
  const isName = listing.recursive && (kind === 'object' || kind === 'both');
  for await (const page of pagesOf(client, target.bucket, prefix, listing)) {
    const chosen = isName ? page.filter((listed) => isAt(key, nameOf(listed))) : page;
    yield chosen.map((listed) => entryOf(target, listed));
    const last = page.at(-1);
    if (isName && last !== undefined && isAfterFolder(key, nameOf(last))) return;
  }
}

/** Lists the buckets of a server, or what is in them. */
async function* bucketPages(
  client: S3Client,
  target: RemoteTarget,
  listing: Listing,
): AsyncGenerator<readonly Entry[], void, undefined> {
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
}

/** Reports whether a name is the key, or below the folder of this name. */
function isAt(key: string, found: string): boolean {
  return found === key || found.startsWith(`${key}/`);
}

function entryOf(target: RemoteTarget, listed: string | Listed): Entry {
  const found = nameOf(listed);
  const name = found.slice(shownFrom(target.key, found));
  return typeof listed === 'string' ? folderEntry(target, listed, name) : objectEntry(target, listed, name);
}

/** The kinds that a key names: objects below `KEY/`, an object, both, or neither. */
type PlaceKind = 'folder' | 'object' | 'both' | 'none';

/** Names that are read before the folder is asked for, where many names begin with the key. */
const maxRead = 1_000;

/** Returns what a key that is not empty names at present, or in the listing of versions, of another time or of uploads. */
export async function placeKind(client: S3Client, target: RemoteTarget, listing: Listing): Promise<PlaceKind> {
  const { bucket, key } = target;
  const below = { ...listing, recursive: false };
  if (key.endsWith('/')) return (await isAny(pagesOf(client, bucket, key, below))) ? 'folder' : 'none';
  let [isObject, isFolder, count] = [false, false, 0];
  for await (const page of pagesOf(client, bucket, key, below)) {
    for (const listed of page) {
      const found = nameOf(listed);
      isObject ||= found === key;
      isFolder ||= found === `${key}/`;
      if (isFolder || isAfterFolder(key, found)) return kindOf(isObject, isFolder);
    }
    count += page.length;
    if (count >= maxRead) return kindOf(isObject, await isAny(pagesOf(client, bucket, `${key}/`, below)));
  }
  return kindOf(isObject, isFolder);
}

function kindOf(isObject: boolean, isFolder: boolean): PlaceKind {
  if (isObject) return isFolder ? 'both' : 'object';
  return isFolder ? 'folder' : 'none';
}

async function isAny(pages: AsyncIterable<readonly unknown[]>): Promise<boolean> {
  for await (const { length } of pages) if (length > 0) return true;
  return false;
}

/** Reports whether a name follows all that begin with `KEY/`. Both begin with the key. */
function isAfterFolder(key: string, found: string): boolean {
  return found.charCodeAt(key.length) > '/'.charCodeAt(0);
}

function nameOf(listed: string | Listed): string {
  return typeof listed === 'string' ? listed : listed.key;
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
