import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { attributesOf, type CopiedAttributes } from '../../../../protocol/s3/copies/copied-attributes.ts';
import {
  copyingHeaders,
  type CopyChoices,
  newObjectHeaders,
  replacingHeaders,
  uploadChecksumHeaders,
} from '../../../../protocol/s3/copies/copy-headers.ts';
import { writeTaggingHeader } from '../../../../protocol/s3/tagging.ts';
import { ResponseError } from '../../../../protocol/response-error.ts';
import type { Alias } from '../../../config/aliases.ts';
import { getTags } from '../../../s3/object-settings.ts';
import type { ObjectHeaders } from '../../../s3/objects.ts';
import type { Context } from '../../context.ts';
import type { CopyOptions } from './copy-options.ts';
import { isOffered, type WantedDigests } from './digests.ts';
import { hasLock } from './object-headers.ts';
import { bytesOf, headOf, nameOf, type ObjectSource } from './object-source.ts';
import { copyLimit, copyWithin, upload } from './upload.ts';
import type { Destination } from './upload-parts.ts';

interface Target {
  readonly alias: Alias;
  readonly to: Destination;
  /** `ALIAS/bucket/key`. */
  readonly display: string;
}

/** The parts of one copy. */
interface Copy {
  readonly context: Context;
  readonly source: ObjectSource;
  readonly attributes: CopiedAttributes;
  readonly choices: CopyChoices;
  readonly to: Destination;
  readonly options: CopyOptions;
}

/**
 * Copies an object to a server so that it is equal to its source, but for what the flags say. What cannot be carried is refused before
 * anything is written.
 */
export async function objectToServer(
  context: Context,
  source: ObjectSource,
  target: Target,
  options: CopyOptions,
): Promise<void> {
  const attributes = attributesOf(await headOf(context, source, options.encryption), new Date());
  const isSameServer = source.target.alias === target.alias;
  const { encryption, partHeaders } = encryptionOfCopy(source, attributes, target, options, isSameServer);
  const choices: CopyChoices = {
    encryption,
    withoutLock: !options.keepsLock,
    withoutTags: options.given.tagging !== undefined,
  };
  const copy = { context, source, attributes, choices, to: { ...target.to, partHeaders }, options };
  const isCopied = isSameServer && options.zip !== true;
  const sent = isCopied ? copyOnServer(copy) : uploadCopy(copy, isSameServer ? 'same' : 'other');
  await sent.catch((error: unknown) => {
    throw withHint(error, attributes, choices, target.display);
  });
  if (leavesLock(attributes, options)) options.onLeft('lock');
}

/** Says how to copy where the target cannot encrypt as the source is encrypted. */
function withHint(error: unknown, { encryption }: CopiedAttributes, choices: CopyChoices, display: string): unknown {
  const isCarried = encryption?.kind === 'server' && choices.encryption === undefined;
  if (!isCarried || !(error instanceof ResponseError)) return error;
  if (!/kms|encrypt/i.test(`${error.code} ${error.message}`)) return error;
  const cause = error.message.replace(/\.$/, '');
  return new ProgramError(
    'Unsafe',
    `${cause}: the source is encrypted (${encryption.scheme}). --enc-s3, --enc-kms or --enc-none ${display} name another encryption for the copy`,
    { cause: error },
  );
}

/** A lock that the flags give takes the place of that of the source. */
function leavesLock({ lock, hidden }: CopiedAttributes, { keepsLock, given }: CopyOptions): boolean {
  if (keepsLock || hasLock(given.more)) return false;
  return Object.keys(lock).length > 0 || hidden.rights.some((name) => name !== 'tags');
}

/** Without a flag, a copy has the encryption of its source; within a server also under the key of the client. */
function encryptionOfCopy(
  source: ObjectSource,
  attributes: CopiedAttributes,
  { to, display }: Target,
  { encryption }: CopyOptions,
  isSameServer: boolean,
): { readonly encryption: ObjectHeaders | undefined; readonly partHeaders: ObjectHeaders } {
  const chosen = encryption.forCopy(display);
  if (chosen !== undefined || attributes.encryption?.kind !== 'customer') {
    return { encryption: chosen, partHeaders: to.partHeaders };
  }
  const own = encryption.forKey(nameOf(source));
  if (isSameServer) return { encryption: own, partHeaders: own };
  throw new ProgramError(
    'Unsafe',
    `it is encrypted with your key, which is not sent to another server unasked: name the encryption of the copy by --enc-c ${display}=KEY, --enc-kms, --enc-s3 or --enc-none`,
  );
}

/** Copies within a server, which takes over the metadata and the tags itself. A copy in parts is a new object, which gets all from here. */
async function copyOnServer(copy: Copy): Promise<void> {
  const { source, to, options } = copy;
  const { key, versionId, etag, size, target } = source;
  const headers =
    size <= copyLimit
      ? copyHeaders(copy)
      : { ...(await headersOfNew(copy, 'same')), ...uploadChecksumHeaders(copy.attributes) };
  const from = {
    bucket: target.bucket,
    key,
    versionId,
    etag,
    size,
    headers: options.encryption.forCopySource(nameOf(source)),
  };
  await copyWithin(from, { ...to, headers });
}

function copyHeaders({ source, attributes, choices, to, options }: Copy): ObjectHeaders {
  const { target, key, metadata } = source;
  const { given, inPlace } = options;
  const isOwnTarget = target.bucket === to.bucket && key === to.key;
  // The server refuses to copy an object to itself where the request changes nothing.
  const replaces = Object.keys(given.attributes).length > 0 || metadata !== undefined || (isOwnTarget && inPlace);
  return {
    ...(replaces ? replacingHeaders(attributes, choices) : copyingHeaders(attributes, choices)),
    ...metadata,
    ...given.attributes,
    ...given.more,
    ...(given.tagging !== undefined && { 'x-amz-tagging': given.tagging, 'x-amz-tagging-directive': 'REPLACE' }),
  };
}

async function headersOfNew(
  { context, source, attributes, choices, options: { given } }: Copy,
  server: 'same' | 'other',
): Promise<ObjectHeaders> {
  const { alias, bucket } = source.target;
  const { key, versionId } = source;
  const isTagged = attributes.tags > 0 && given.tagging === undefined;
  const tags = isTagged ? await getTags(await context.client(alias), { bucket, key, versionId }) : {};
  const tagging = Object.keys(tags).length > 0 ? writeTaggingHeader(tags) : undefined;
  return {
    ...newObjectHeaders(attributes, server, { ...choices, tagging }),
    ...source.metadata,
    ...given.attributes,
    ...given.more,
    ...(given.tagging !== undefined && { 'x-amz-tagging': given.tagging }),
  };
}

async function uploadCopy(copy: Copy, server: 'same' | 'other'): Promise<void> {
  const { context, source, attributes, to, options } = copy;
  const headers = await headersOfNew(copy, server);
  const sums = checksumOfUpload(attributes, options, source.size);
  // A server demands a digest of what it locks.
  const md5 =
    options.digests.md5 || (hasLock(headers) && sums.digests.checksum === undefined && sums.headers === undefined);
  await upload(
    await bytesOf(context, source, options.encryption),
    { ...to, headers: { ...headers, ...sums.headers }, digests: { ...sums.digests, md5 } },
    options.multipart,
  );
}

/** A checksum of the whole object is known already. One of parts is computed, except for CRC64NVME, which servers compute themselves. */
function checksumOfUpload(
  { checksum }: CopiedAttributes,
  { digests, multipart }: CopyOptions,
  size: number,
): { readonly headers?: ObjectHeaders; readonly digests: WantedDigests } {
  if (digests.checksum !== undefined || checksum === undefined) return { digests };
  const { algorithm, type, value } = checksum;
  if (type === 'FULL_OBJECT' && size <= multipart.above) {
    return { digests, headers: { [`x-amz-checksum-${algorithm.toLowerCase()}`]: value } };
  }
  return isOffered(algorithm) && algorithm !== 'CRC64NVME'
    ? { digests: { ...digests, checksum: algorithm } }
    : { digests };
}
