import { mkdir, stat } from 'node:fs/promises';
import { type ExpectUnchanged, fileSource, memoryLimit, readStream } from './byte-source.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { Context } from '../../context.ts';
import { headObject, type ObjectHeaders } from '../../../s3/objects.ts';
import { contentTypeOf } from './object-headers.ts';
import { locationOf, type CopyDestination, type CopyLocation } from './copy-destination.ts';
import type { CopyOptions } from './copy-options.ts';
import type { FoundSource } from './find-sources.ts';
import { bytesOf, headOf, nameOf } from './object-source.ts';
import { objectToServer } from './object-to-server.ts';
import { expectState, objectChanged, settledState, SourceChangedError } from './source-state.ts';
import { ResponseError } from '../../../../protocol/response-error.ts';
import { upload } from './upload.ts';
import type { Destination } from './upload-parts.ts';
import { uploadStream } from './upload-stream.ts';
import {
  applyAttributes,
  attributesHeader,
  attributesOf,
  formatAttributes,
  parseAttributesHeader,
  type FileAttributes,
} from './file-attributes.ts';
import type { EncryptionRules } from '../../../s3/encryption-rules.ts';

/** A copy that arrived. */
export interface Copied {
  readonly location: CopyLocation;
  /** The state of the source that was copied, which may be newer than the one that was listed. */
  readonly source: FoundSource;
}

/** The copies of a source that another program changes, before the copy fails. */
const maxAttempts = 4;

/**
 * Copies one file or object. A source that changes meanwhile is copied again.
 *
 * @throws SourceChangedError if it changes during each attempt
 */
export async function copyOne(
  context: Context,
  source: FoundSource,
  destination: CopyDestination,
  options: CopyOptions,
): Promise<Copied> {
  const location = locationOf(destination, source.name);
  const copy = async (current: FoundSource, attempt: CopyOptions): Promise<void> =>
    location.kind === 'local'
      ? toLocal(context, current, location.path, attempt)
      : toServer(context, current, destination, location, attempt);
  const copyCurrent = async (): Promise<Copied> => {
    let known = source;
    for (let attempt = 1; ; attempt += 1) {
      let counted = 0;
      const count = (bytes: number): void => {
        counted += bytes;
        options.count(bytes);
      };
      const current = await inSettledState(known);
      try {
        await copy(current, { ...options, count });
        // A file that changed after its last byte was read may be older than its copy: nothing would copy it again.
        if (current.kind === 'file') await expectUnchanged(current)();
        await endEarlierUpload(context, destination, location, options);
        return { location, source: current };
      } catch (error) {
        const newer = await changedSource(context, current, error, options.encryption);
        if (newer === undefined) throw error;
        if (attempt === maxAttempts) throw error instanceof SourceChangedError ? error : objectChanged();
        options.count(-counted);
        known = newer;
      }
    }
  };
  const isSmall = source.kind !== 'stream' && source.size <= memoryLimit;
  return isSmall ? copyCurrent() : options.large(copyCurrent);
}

/** Ends the upload in parts that a killed command left under the key of a copy that arrived in one request. */
async function endEarlierUpload(
  context: Context,
  { target }: CopyDestination,
  location: CopyLocation,
  { sessions }: CopyOptions,
): Promise<void> {
  if (target.kind === 'local' || location.kind === 'local') return;
  try {
    await sessions.end(await context.client(target.alias), location);
  } catch {
    // The next command for this key finds it again.
    context.signal.throwIfAborted();
  }
}

/** Returns a file with its present state. */
async function inSettledState(source: FoundSource): Promise<FoundSource> {
  if (source.kind !== 'file') return source;
  const state = await settledState(source.path);
  return { ...source, state, size: state.size };
}

/** Returns the source as it is now, if a copy failed because it changed; undefined for any other failure. */
async function changedSource(
  context: Context,
  source: FoundSource,
  error: unknown,
  encryption: EncryptionRules,
): Promise<FoundSource | undefined> {
  if (error instanceof SourceChangedError) return source;
  const isRefused = error instanceof ResponseError && error.status === 412;
  if (!isRefused || source.kind !== 'object' || source.versionId !== undefined) return undefined;
  const { alias, bucket } = source.target;
  const headers = encryption.forKey(nameOf(source));
  const now = await headObject(await context.client(alias), { bucket, key: source.key }, { headers }).catch(
    () => undefined,
  );
  // The condition that did not hold may be one of the target.
  if (now === undefined || now.etag === source.etag) return undefined;
  return { ...source, etag: now.etag, size: now.size, modified: now.lastModified };
}

async function toLocal(context: Context, source: FoundSource, path: string, options: CopyOptions): Promise<void> {
  if (source.kind === 'file') {
    const { path: from, size, state } = source;
    const identity = `${from} ${size} ${state?.modifiedNs ?? source.modified.getTime()}`;
    await options.downloads.copyFile(from, path, identity, expectUnchanged(source));
    if (options.preserve) await applyAttributes(path, parseAttributesHeader(formatAttributes(await stat(source.path))));
    options.count(source.size);
  } else if (source.kind === 'stream') {
    const { path: from, size } = source;
    const bytes = { size, open: () => readStream(from, context.io) };
    await options.downloads.write(bytes, path, options.count);
  } else if (source.key.endsWith('/') && source.size === 0) {
    // Consoles make such an object to show an empty folder.
    await mkdir(path, { recursive: true });
  } else {
    let isTagged = false;
    const bytes = await bytesOf(context, source, options.encryption, (headers) => {
      // An interrupted answer is followed by another one.
      isTagged ||= Number(headers['x-amz-tagging-count']) > 0;
    });
    await options.downloads.write(bytes, path, options.count);
    if (isTagged) options.onLeft('tags');
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

function expectUnchanged({ path, state }: Extract<FoundSource, { readonly kind: 'file' }>): ExpectUnchanged {
  return async () => {
    if (state !== undefined) await expectState(path, state);
  };
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
  if (source.kind === 'object') {
    await objectToServer(context, source, { alias, to, display: location.display }, options);
    return;
  }
  const headers = { ...(await fileHeaders(source, options)), ...options.encryption.forNew(location.display) };
  if (source.kind === 'stream') {
    await uploadStream(readStream(source.path, context.io), { ...to, headers }, options.multipart);
    return;
  }
  await upload(fileSource(source.path, source.size, expectUnchanged(source)), { ...to, headers }, options.multipart);
}

async function fileHeaders(
  source: Extract<FoundSource, { readonly kind: 'file' | 'stream' }>,
  { given: { attributes, more, tagging }, preserve }: CopyOptions,
): Promise<ObjectHeaders> {
  return {
    'content-type': contentTypeOf(source.path),
    ...(preserve && source.kind === 'file' && (await attributesOf(source.path))),
    ...attributes,
    ...more,
    ...(tagging !== undefined && { 'x-amz-tagging': tagging }),
  };
}
