import type { IncomingHttpHeaders } from 'node:http';
import { mkdir, stat } from 'node:fs/promises';
import { type ByteSource, fileSource, memoryLimit, objectSource, readStream } from './byte-source.ts';
import { ProgramError } from '../../../../platform/program-error.ts';
import type { Context } from '../../context.ts';
import { headObject, type ObjectHeaders } from '../../../s3/objects.ts';
import { getTags } from '../../../s3/object-settings.ts';
import { writeTaggingHeader } from '../../../../protocol/s3/tagging.ts';
import { contentTypeOf, hasLock, lockHeadersOf, storedHeaders } from './object-headers.ts';
import { locationOf, type CopyDestination, type CopyLocation } from './copy-destination.ts';
import type { FoundSource } from './find-sources.ts';
import { type Multipart, copyLimit, copyWithin, upload } from './upload.ts';
import type { Destination } from './upload-parts.ts';
import { uploadStream } from './upload-stream.ts';
import type { LockedBuckets } from './locked-buckets.ts';
import type { Downloads } from './download.ts';
import type { WantedDigests } from './digests.ts';
import type { UploadSessions } from '../../../s3/upload-sessions.ts';
import {
  applyAttributes,
  attributesHeader,
  attributesOf,
  formatAttributes,
  parseAttributesHeader,
  type FileAttributes,
} from './file-attributes.ts';
import type { GivenHeaders } from './transfer-options.ts';
import type { EncryptionRules } from '../../../s3/encryption-rules.ts';
import { displayName } from '../../../config/target.ts';
import type { Semaphore } from '../../../../platform/concurrency.ts';

/** The attributes that a copy has only with `--preserve`: the lock, and on another server the tags. */
export type LeftBehind = 'tags' | 'lock';

export interface CopyOptions {
  readonly multipart: Multipart;
  /** The headers of the flags. */
  readonly given: GivenHeaders;
  /** Keeps mode and times of files, and tags and locks of objects. */
  readonly preserve: boolean;
  readonly digests: WantedDigests;
  /** The server cannot copy out of an archive itself. */
  readonly zip?: boolean;
  /** An object that is its own target is stored anew. Otherwise the server refuses such a copy. */
  readonly inPlace: boolean;
  readonly encryption: EncryptionRules;
  /** Limits the concurrent requests with a large body. */
  readonly semaphore: Semaphore;
  /** Limits the concurrent large copies, so that the first of them arrive first. */
  readonly large: Semaphore;
  /** Concurrent parts of one upload. */
  readonly parallel: number;
  readonly downloads: Downloads;
  readonly sessions: UploadSessions;
  readonly lockedBuckets: LockedBuckets;
  readonly count: (bytes: number) => void;
  /** Called for an object whose copy does not get its tags or its lock. */
  readonly onLeft: (what: LeftBehind) => void;
}

/** Copies one file or object, and returns its new location. */
export async function copyOne(
  context: Context,
  source: FoundSource,
  destination: CopyDestination,
  options: CopyOptions,
): Promise<CopyLocation> {
  const location = locationOf(destination, source.name);
  const copy = async (): Promise<void> =>
    location.kind === 'local'
      ? toLocal(context, source, location.path, options)
      : toServer(context, source, destination, location, options);
  const isSmall = source.kind !== 'stream' && source.size <= memoryLimit;
  await (isSmall ? copy() : options.large(copy));
  return location;
}

async function toLocal(context: Context, source: FoundSource, path: string, options: CopyOptions): Promise<void> {
  if (source.kind === 'file') {
    await options.downloads.copyFile(source.path, path, `${source.path} ${source.size} ${source.modified.getTime()}`);
    if (options.preserve) await applyAttributes(path, parseAttributesHeader(formatAttributes(await stat(source.path))));
    options.count(source.size);
  } else if (source.kind === 'stream') {
    const { path: from, size } = source;
    const bytes = { size, open: () => readStream(from, context.io.stdin) };
    await options.downloads.write(bytes, path, options.count);
  } else if (source.key.endsWith('/') && source.size === 0) {
    // Consoles make such an object to show an empty folder.
    await mkdir(path, { recursive: true });
  } else {
    const bytes = await bytesOf(context, source, options, 'machine');
    await options.downloads.write(bytes, path, options.count);
    if (options.preserve) await applyAttributes(path, await keptAttributes(context, source, options.encryption));
  }
}

/** The attributes of the file from which an object was made; none where its client did not keep them. */
export async function keptAttributes(
  context: Context,
  source: FoundSource,
  encryption: EncryptionRules,
): Promise<FileAttributes> {
  if (source.kind !== 'object') return {};
  return parseAttributesHeader(String((await headOf(context, source, encryption))[attributesHeader] ?? ''));
}

type ObjectSource = Extract<FoundSource, { readonly kind: 'object' }>;

async function headOf(
  context: Context,
  source: ObjectSource,
  encryption: EncryptionRules,
): Promise<IncomingHttpHeaders> {
  const { key, versionId } = source;
  const { alias, bucket } = source.target;
  const headers = encryption.forKey(nameOf(source));
  return (await headObject(await context.client(alias), { bucket, key, versionId }, { headers })).headers;
}

/** The name by which the flags of encryption find an object. */
function nameOf({ target, key }: ObjectSource): string {
  return displayName(target, key);
}

async function toServer(
  context: Context,
  source: FoundSource,
  { target }: CopyDestination,
  location: CopyLocation & { readonly kind: 'remote' },
  options: CopyOptions,
): Promise<void> {
  if (target.kind !== 'remote') throw new ProgramError('BadArgument', `\`${location.display}\` is not on a server`);
  const { alias } = target;
  const to: Destination = {
    ...options,
    client: await context.client(alias),
    bucket: location.bucket,
    key: location.key,
    headers: {},
    partHeaders: options.encryption.forKey(location.display),
    cleaner: async () => context.newClient(alias, AbortSignal.timeout(5_000)),
  };
  if (source.kind === 'object' && source.target.alias === alias && options.zip !== true) {
    const { key, versionId, etag, size } = source;
    const { encryption } = options;
    const from = {
      bucket: source.target.bucket,
      key,
      versionId,
      etag,
      size,
      headers: encryption.forCopySource(nameOf(source)),
    };
    // A copy in parts is a new upload, to which the server copies no headers.
    const whole = source.size <= copyLimit;
    const headers = whole
      ? await copyHeaders(context, source, location, options)
      : await allHeaders(context, source, options, { tags: true, lock: options.preserve });
    const leavesLock = await leavesLockBehind(context, source, options);
    await copyWithin(from, { ...to, headers: { ...headers, ...encryption.forNew(location.display) } });
    if (leavesLock) options.onLeft('lock');
    return;
  }
  const given = await allHeaders(context, source, options, { tags: options.preserve, lock: options.preserve });
  const headers = { ...given, ...options.encryption.forNew(location.display) };
  if (source.kind === 'stream') {
    await uploadStream(readStream(source.path, context.io.stdin), { ...to, headers }, options.multipart);
    return;
  }
  // A server demands a digest of what it locks.
  const needsDigest = hasLock(given) && options.digests.checksum === undefined;
  const digests = needsDigest ? { md5: true } : options.digests;
  await upload(await bytesOf(context, source, options, 'server'), { ...to, headers, digests }, options.multipart);
}

/**
 * Reports whether the server makes a copy without the lock of its source. CopyObject never copies a lock, and its answer does not name
 * one, so the client asks.
 */
async function leavesLockBehind(context: Context, source: ObjectSource, options: CopyOptions): Promise<boolean> {
  if (options.preserve || hasLock(options.given.more)) return false;
  const { alias, bucket } = source.target;
  if (!(await options.lockedBuckets.mayHaveLocks(await context.client(alias), alias, bucket))) return false;
  return hasLock(lockHeadersOf(await headOf(context, source, options.encryption), new Date()));
}

/** Without attributes the server keeps the headers of the source, and without tags its tags. With attributes it replaces all headers. */
async function copyHeaders(
  context: Context,
  source: ObjectSource,
  location: { readonly bucket: string; readonly key: string },
  options: CopyOptions,
): Promise<ObjectHeaders> {
  const { attributes, more, tagging } = options.given;
  const isOwnTarget = source.target.bucket === location.bucket && source.key === location.key;
  // The server refuses to copy an object to itself where the request changes nothing.
  const replaces = Object.keys(attributes).length > 0 || (isOwnTarget && options.inPlace);
  const kept = { tags: false, lock: options.preserve };
  return {
    ...(replaces && (await allHeaders(context, source, options, kept))),
    ...(!replaces && kept.lock && lockHeadersOf(await headOf(context, source, options.encryption), new Date())),
    ...more,
    ...(replaces && { 'x-amz-metadata-directive': 'REPLACE' }),
    ...(tagging !== undefined && { 'x-amz-tagging': tagging, 'x-amz-tagging-directive': 'REPLACE' }),
  };
}

/** The attributes that a copy keeps of its source in addition to headers and metadata. */
interface Kept {
  readonly tags: boolean;
  readonly lock: boolean;
}

async function allHeaders(
  context: Context,
  source: FoundSource,
  options: CopyOptions,
  kept: Kept,
): Promise<ObjectHeaders> {
  const { attributes, more, tagging } = options.given;
  return {
    ...(await headersOf(context, source, options.encryption, kept)),
    ...(options.preserve && source.kind === 'file' && (await attributesOf(source.path))),
    ...(source.kind === 'object' && source.metadata),
    ...attributes,
    ...more,
    ...(tagging !== undefined && { 'x-amz-tagging': tagging }),
  };
}

async function headersOf(
  context: Context,
  source: FoundSource,
  encryption: EncryptionRules,
  kept: Kept,
): Promise<ObjectHeaders> {
  if (source.kind !== 'object') return { 'content-type': contentTypeOf(source.path) };
  const head = await headOf(context, source, encryption);
  const { alias, bucket } = source.target;
  const { key, versionId } = source;
  const tags = kept.tags && hasTags(head) ? await getTags(await context.client(alias), { bucket, key, versionId }) : {};
  return {
    ...storedHeaders(head),
    ...(kept.lock && lockHeadersOf(head, new Date())),
    ...(Object.keys(tags).length > 0 && { 'x-amz-tagging': writeTaggingHeader(tags) }),
  };
}

function hasTags(headers: IncomingHttpHeaders): boolean {
  return Number(headers['x-amz-tagging-count']) > 0;
}

async function bytesOf(
  context: Context,
  source: Exclude<FoundSource, { kind: 'stream' }>,
  { encryption, given, preserve, onLeft }: CopyOptions,
  destination: 'server' | 'machine',
): Promise<ByteSource> {
  if (source.kind === 'file') return fileSource(source.path, source.size);
  const { alias, bucket } = source.target;
  const { key, versionId, etag, size } = source;
  const headers = encryption.forKey(nameOf(source));
  let isReported = preserve && destination === 'server';
  const onHeaders = (answer: IncomingHttpHeaders): void => {
    // An interrupted answer is followed by another one.
    if (isReported) return;
    isReported = true;
    if (hasTags(answer) && given.tagging === undefined) onLeft('tags');
    if (destination === 'server' && hasLock(lockHeadersOf(answer, new Date())) && !hasLock(given.more)) onLeft('lock');
  };
  return objectSource(await context.client(alias), { bucket, key, versionId, etag, size, headers, onHeaders });
}
