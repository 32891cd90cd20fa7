import { isDeepStrictEqual } from 'node:util';
import { ResponseError } from '../../../../protocol/response-error.ts';
import { getObjectLock } from '../../../s3/bucket-settings.ts';
import type { S3Client } from '../../../s3/client.ts';
import { getLegalHold, getRetention, getTags } from '../../../s3/object-settings.ts';
import { headObject, type ObjectRef } from '../../../s3/objects.ts';

/** A bucket whose versions are read. */
export interface Side {
  readonly client: S3Client;
  readonly bucket: string;
  /** The bucket has object lock, so that its versions may have locks. */
  readonly hasLocks: boolean;
}

export async function openSide(client: S3Client, bucket: string): Promise<Side> {
  return { client, bucket, hasLocks: (await getObjectLock(client, bucket)) !== undefined };
}

interface VersionAttributes {
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  /** The mode, and the end in milliseconds since 1970; undefined without retention. */
  readonly retention: { readonly mode: string; readonly until: number } | undefined;
  readonly legalHold: boolean;
}

type AttributesOnSide =
  | { readonly kind: 'read'; readonly attributes: VersionAttributes; readonly status: string | undefined }
  /** The server refuses to show them. */
  | { readonly kind: 'unknown'; readonly reason: string }
  /** The version was removed after the listing. */
  | { readonly kind: 'gone' };

interface MarkerOnSide {
  readonly kind: 'marker';
  /** Undefined for one that a client of this side made. */
  readonly status: string | undefined;
}

/** A read is not passed on to the other side. */
const ofThisSide = { 'x-minio-source-proxy-request': 'false' };

const fields = ['metadata', 'tags', 'retention', 'legalHold'] as const;

/** Returns the names of the attributes that differ. */
export function differingAttributes(one: VersionAttributes, other: VersionAttributes): readonly string[] {
  return fields.filter((field) => !isDeepStrictEqual(one[field], other[field]));
}

/**
 * Reads the attributes of a version. Each is asked for by a call of its own where the headers of the object do not have it: a server leaves out
 * of them what the caller may not read.
 *
 * @throws what is no answer about this version
 */
export async function readAttributes(side: Side, key: string, versionId: string): Promise<AttributesOnSide> {
  const { client, bucket, hasLocks } = side;
  const ref = { bucket, key, versionId };
  try {
    const [{ headers }, tags] = await Promise.all([
      headObject(client, ref, { headers: ofThisSide }),
      getTags(client, ref, ofThisSide),
    ]);
    if (headers['x-amz-missing-meta'] !== undefined)
      return { kind: 'unknown', reason: 'the server cannot show all of its metadata' };
    const lock = hasLocks ? await readLock(client, ref, headers) : { retention: undefined, legalHold: false };
    const attributes = { metadata: metadataOf(headers), tags, ...lock };
    return { kind: 'read', attributes, status: headers['x-amz-replication-status']?.toString() };
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    if (error.status === 404 || error.status === 405) return { kind: 'gone' };
    // An object under a client's key is refused with 400.
    if (error.status !== 403 && error.status !== 400) throw error;
    return { kind: 'unknown', reason: error.message };
  }
}

/**
 * Returns the state of replication of a delete marker; `gone` where it was removed after the listing.
 *
 * @throws what is no answer about this version
 */
export async function readMarker(
  { client, bucket }: Side,
  key: string,
  versionId: string,
): Promise<Exclude<AttributesOnSide, { readonly kind: 'read' }> | MarkerOnSide> {
  try {
    await headObject(client, { bucket, key, versionId }, { headers: ofThisSide });
    return { kind: 'gone' };
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error;
    if (error.status === 405) return { kind: 'marker', status: error.fields['x-amz-replication-status'] };
    if (error.status === 404) return { kind: 'gone' };
    if (error.status !== 403 && error.status !== 400) throw error;
    return { kind: 'unknown', reason: error.message };
  }
}

type Headers = Awaited<ReturnType<typeof headObject>>['headers'];

async function readLock(
  client: S3Client,
  ref: ObjectRef,
  headers: Headers,
): Promise<Pick<VersionAttributes, 'retention' | 'legalHold'>> {
  const mode = headers['x-amz-object-lock-mode'];
  const until = headers['x-amz-object-lock-retain-until-date'];
  const hold = headers['x-amz-object-lock-legal-hold'];
  const isShown = typeof mode === 'string' && typeof until === 'string';
  const asked = isShown ? undefined : await getRetention(client, ref);
  return {
    retention: isShown
      ? { mode, until: Date.parse(until) }
      : asked && { mode: asked.mode, until: asked.until.getTime() },
    legalHold: typeof hold === 'string' ? hold === 'ON' : (await getLegalHold(client, ref)) === true,
  };
}

const describing = [
  'content-type',
  'content-encoding',
  'content-disposition',
  'content-language',
  'cache-control',
  'expires',
  'x-amz-website-redirect-location',
];

function metadataOf(headers: Headers): VersionAttributes['metadata'] {
  const shown = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && (name.startsWith('x-amz-meta-') || describing.includes(name)),
  );
  return Object.fromEntries(shown.map(([name, value]) => [name, String(value)]));
}
