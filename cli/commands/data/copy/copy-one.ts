import type { IncomingHttpHeaders } from 'node:http';
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, stat, type FileHandle, copyFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type ByteSource, fileSource, objectSource, readStream } from './byte-source.ts';
import { CliError } from '../../../config/cli-error.ts';
import type { Context } from '../../context.ts';
import { headObject, type ObjectHeaders } from '../../../s3/objects.ts';
import { contentTypeOf, storedHeaders } from './object-headers.ts';
import { locationOf, type CopyDestination, type CopyLocation } from './copy-destination.ts';
import type { FoundSource } from './find-sources.ts';
import { type Multipart, copyLimit, copyWithin, upload, uploadStream, type Destination } from './upload.ts';
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

/**
 * Writes a source to a temporary file and renames it when it is complete. A failure removes the temporary file. A device or pipe is written
 * directly.
 */
export async function download(source: ByteSource, path: string, count: (bytes: number) => void): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  if (existing !== undefined && !existing.isFile() && !existing.isDirectory()) {
    await writeAll(await open(path, 'w'), source, count);
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.${basename(path).slice(0, 200)}.${randomBytes(6).toString('hex')}.part`);
  try {
    await writeAll(await open(temporary, 'wx'), source, count);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeAll(file: FileHandle, source: ByteSource, count: (bytes: number) => void): Promise<void> {
  try {
    for await (const bytes of source.open(0, source.size)) {
      for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
      count(bytes.length);
    }
  } finally {
    await file.close();
  }
}

export interface CopyOptions {
  readonly multipart: Multipart;
  /** The headers of the flags. */
  readonly given: GivenHeaders;
  /** Keeps mode and times of files. */
  readonly preserve: boolean;
  /** Sends the MD5 of each body. */
  readonly md5: boolean;
  readonly encryption: EncryptionRules;
  readonly semaphore: Semaphore;
  readonly parallel: number;
  readonly count: (bytes: number) => void;
}

/** Copies one file or object, and returns its new location. */
export async function copyOne(
  context: Context,
  source: FoundSource,
  destination: CopyDestination,
  options: CopyOptions,
): Promise<CopyLocation> {
  const location = locationOf(destination, source.name);
  if (location.kind === 'local') await toLocal(context, source, location.path, options);
  else await toServer(context, source, destination, location, options);
  return location;
}

async function toLocal(context: Context, source: FoundSource, path: string, options: CopyOptions): Promise<void> {
  if (source.kind === 'file') {
    await mkdir(dirname(path), { recursive: true });
    await copyFile(source.path, path);
    if (options.preserve) await applyAttributes(path, parseAttributesHeader(formatAttributes(await stat(source.path))));
    options.count(source.size);
  } else if (source.kind === 'stream') {
    const { path: from, size } = source;
    await download({ size, open: () => readStream(from, context.io.stdin) }, path, options.count);
  } else if (source.key.endsWith('/') && source.size === 0) {
    // Consoles make such an object to show an empty folder.
    await mkdir(path, { recursive: true });
  } else {
    const bytes = await bytesOf(context, source, options.encryption);
    await options.semaphore(async () => download(bytes, path, options.count));
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
  if (target.kind !== 'remote') throw new CliError('BadArgument', `\`${location.display}\` is not on a server`);
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
  if (source.kind === 'object' && source.target.alias === alias) {
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
    const headers = whole ? copyHeaders(options.given) : await allHeaders(context, source, options);
    await copyWithin(from, { ...to, headers: { ...headers, ...encryption.forNew(location.display) } });
    return;
  }
  const given = await allHeaders(context, source, options);
  const headers = { ...given, ...options.encryption.forNew(location.display) };
  if (source.kind === 'stream') {
    await uploadStream(readStream(source.path, context.io.stdin), { ...to, headers }, options.multipart);
    return;
  }
  await upload(await bytesOf(context, source, options.encryption), { ...to, headers }, options.multipart);
}

/** Without attributes the server keeps the headers of the source, and without tags its tags. */
function copyHeaders({ attributes, more, tagging }: GivenHeaders): ObjectHeaders {
  return {
    ...attributes,
    ...more,
    ...(Object.keys(attributes).length > 0 && { 'x-amz-metadata-directive': 'REPLACE' }),
    ...(tagging !== undefined && { 'x-amz-tagging': tagging, 'x-amz-tagging-directive': 'REPLACE' }),
  };
}

async function allHeaders(context: Context, source: FoundSource, options: CopyOptions): Promise<ObjectHeaders> {
  const { attributes, more, tagging } = options.given;
  return {
    ...(await headersOf(context, source, options.encryption)),
    ...(options.preserve && source.kind === 'file' && (await attributesOf(source.path))),
    ...attributes,
    ...more,
    ...(tagging !== undefined && { 'x-amz-tagging': tagging }),
  };
}

async function headersOf(context: Context, source: FoundSource, encryption: EncryptionRules): Promise<ObjectHeaders> {
  if (source.kind !== 'object') return { 'content-type': contentTypeOf(source.path) };
  return storedHeaders(await headOf(context, source, encryption));
}

async function bytesOf(
  context: Context,
  source: Exclude<FoundSource, { kind: 'stream' }>,
  encryption: EncryptionRules,
): Promise<ByteSource> {
  if (source.kind === 'file') return fileSource(source.path, source.size);
  const { alias, bucket } = source.target;
  const { key, versionId, etag, size } = source;
  const headers = encryption.forKey(nameOf(source));
  return objectSource(await context.client(alias), { bucket, key, versionId, etag, size, headers });
}
