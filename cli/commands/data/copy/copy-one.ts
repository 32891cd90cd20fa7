import { mkdir, stat } from 'node:fs/promises';
import { fileSource, memoryLimit, readStream } from './byte-source.ts';
import { ProgramError } from '../../../../platform/program-error.ts';
import type { Context } from '../../context.ts';
import type { ObjectHeaders } from '../../../s3/objects.ts';
import { contentTypeOf } from './object-headers.ts';
import { locationOf, type CopyDestination, type CopyLocation } from './copy-destination.ts';
import type { CopyOptions } from './copy-options.ts';
import type { FoundSource } from './find-sources.ts';
import { bytesOf, headOf } from './object-source.ts';
import { objectToServer } from './object-to-server.ts';
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
    await uploadStream(readStream(source.path, context.io.stdin), { ...to, headers }, options.multipart);
    return;
  }
  await upload(fileSource(source.path, source.size), { ...to, headers }, options.multipart);
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
