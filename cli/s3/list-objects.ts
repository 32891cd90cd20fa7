import {
  readListObjects,
  readListUploads,
  readListVersions,
  type ObjectEntry,
  type VersionEntry,
} from '../../protocol/s3/responses.ts';
import type { S3Client } from './client.ts';

/** Objects, and common prefixes as texts, in the order of their names. */
export type ListedPage<T extends ObjectEntry = ObjectEntry> = readonly (T | string)[];

interface Listing {
  readonly bucket: string;
  readonly prefix: string;
  /** False groups keys at the next `/`. */
  readonly recursive: boolean;
  readonly limit?: number;
}

/** Lists objects and common prefixes. It requests the next page while the caller works on the current one. */
export async function* listObjects(client: S3Client, listing: Listing): AsyncGenerator<ListedPage, void, undefined> {
  const pageAt = async (token: string | undefined): Promise<string> => {
    const { text } = await client.text({
      method: 'GET',
      bucket: listing.bucket,
      query: {
        'list-type': 2,
        prefix: listing.prefix,
        'encoding-type': 'url',
        delimiter: listing.recursive ? undefined : '/',
        'max-keys': listing.limit,
        'continuation-token': token,
      },
    });
    return text;
  };
  let next: Promise<string> | undefined = pageAt(undefined);
  while (next !== undefined) {
    const page = readListObjects(await next);
    const token = listing.limit === undefined ? page.continuationToken : undefined;
    next = token === undefined ? undefined : pageAt(token);
    // The failure surfaces when the caller needs the page.
    next?.catch(() => undefined);
    yield inOrder(page.commonPrefixes, page.objects);
  }
}

/** Joins a page in the order of the names. The sort is stable, so that the versions of a key stay in their order. */
function inOrder<T extends ObjectEntry>(commonPrefixes: readonly string[], objects: readonly T[]): ListedPage<T> {
  if (commonPrefixes.length === 0) return objects;
  const named = [...commonPrefixes, ...objects].map((one) => [Buffer.from(nameOf(one)), one] as const);
  return named.sort(([one], [other]) => Buffer.compare(one, other)).map(([, one]) => one);
}

function nameOf(listed: ObjectEntry | string): string {
  return typeof listed === 'string' ? listed : listed.key;
}

type VersionMarker = NonNullable<ReturnType<typeof readListVersions>['next']>;

/**
 * Lists versions, delete markers and common prefixes, the newest version of a key first. It requests the next page while the caller works
 * on the current one. `startAfter` is a key: the listing begins with the next one.
 */
export async function* listVersions(
  client: S3Client,
  listing: Omit<Listing, 'limit'> & { readonly startAfter?: string | undefined },
): AsyncGenerator<ListedPage<VersionEntry>, void, undefined> {
  const pageAfter = async (marker: VersionMarker | undefined): Promise<string> => {
    const { text } = await client.text({
      method: 'GET',
      bucket: listing.bucket,
      query: {
        versions: '',
        prefix: listing.prefix,
        'encoding-type': 'url',
        delimiter: listing.recursive ? undefined : '/',
        'key-marker': marker?.keyMarker ?? listing.startAfter,
        'version-id-marker': marker?.versionIdMarker || undefined,
      },
    });
    return text;
  };
  let next: Promise<string> | undefined = pageAfter(undefined);
  while (next !== undefined) {
    const page = readListVersions(await next);
    next = page.next === undefined ? undefined : pageAfter(page.next);
    next?.catch(() => undefined);
    yield inOrder(page.commonPrefixes, page.versions);
  }
}

/** Reports whether an object exists below a prefix that ends with `/`. */
export async function isFolder(client: S3Client, bucket: string, prefix: string): Promise<boolean> {
  for await (const { length } of listObjects(client, { bucket, prefix, recursive: true, limit: 1 })) {
    if (length > 0) return true;
  }
  return false;
}

/** Returns an object as a listing has it; undefined if there is none. */
export async function listedObject(client: S3Client, bucket: string, key: string): Promise<ObjectEntry | undefined> {
  // A name comes before all others that begin with it.
  for await (const [first] of listObjects(client, { bucket, prefix: key, recursive: true, limit: 1 })) {
    if (typeof first === 'object' && first.key === key) return first;
  }
  return undefined;
}

interface ListedUpload {
  readonly key: string;
  readonly uploadId: string;
  readonly initiated: Date;
}

/** Lists multipart uploads that are neither completed nor aborted. */
export async function* listUploads(
  client: S3Client,
  listing: Omit<Listing, 'limit'>,
): AsyncGenerator<ListedUpload, void, undefined> {
  let next: { readonly keyMarker: string; readonly uploadIdMarker: string } | undefined;
  do {
    const { text } = await client.text({
      method: 'GET',
      bucket: listing.bucket,
      query: {
        uploads: '',
        prefix: listing.prefix,
        'encoding-type': 'url',
        delimiter: listing.recursive ? undefined : '/',
        'key-marker': next?.keyMarker,
        'upload-id-marker': next?.uploadIdMarker || undefined,
      },
    });
    const page = readListUploads(text);
    yield* page.uploads;
    next = page.next;
  } while (next !== undefined);
}
