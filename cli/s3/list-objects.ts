import { readListObjects, readListUploads, type ObjectEntry } from '../../protocol/s3/responses.ts';
import type { S3Client } from './client.ts';

export type Listed =
  { readonly kind: 'object'; readonly object: ObjectEntry } | { readonly kind: 'prefix'; readonly prefix: string };

interface Listing {
  readonly bucket: string;
  readonly prefix: string;
  /** False groups keys at the next `/`. */
  readonly recursive: boolean;
  readonly limit?: number;
}

/** Lists objects and common prefixes in the order of their names, and requests pages on demand. */
export async function* listObjects(client: S3Client, listing: Listing): AsyncGenerator<Listed, void, undefined> {
  let token: string | undefined;
  do {
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
    const page = readListObjects(text);
    const prefixes = page.commonPrefixes.map((prefix) => ({ kind: 'prefix', prefix, name: prefix }) as const);
    const objects = page.objects.map((object) => ({ kind: 'object', object, name: object.key }) as const);
    yield* [...prefixes, ...objects].sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
    token = page.continuationToken;
  } while (token !== undefined && listing.limit === undefined);
}

/** Lists every object below a prefix. */
export async function* allObjects(
  client: S3Client,
  bucket: string,
  prefix: string,
): AsyncGenerator<ObjectEntry, void, undefined> {
  for await (const listed of listObjects(client, { bucket, prefix, recursive: true })) {
    if (listed.kind === 'object') yield listed.object;
  }
}

/** Reports whether an object exists below a prefix that ends with `/`. */
export async function isFolder(client: S3Client, bucket: string, prefix: string): Promise<boolean> {
  for await (const _ of listObjects(client, { bucket, prefix, recursive: true, limit: 1 })) return true;
  return false;
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
