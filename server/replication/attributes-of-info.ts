import { type CopiedAttributes, copiedStorageClass, lockInForce } from '../../protocol/s3/copies/copied-attributes.ts';
import { decodeWords, encodeWords } from '../../protocol/s3/encoded-words.ts';
import { writeTaggingHeader } from '../../protocol/s3/tagging.ts';
import type { ObjectEncryption, ObjectInfo } from '../objects/contract/object-layer.ts';

/** The form of metadata beyond ASCII: MinIO keeps the bytes that come, and every other S3 decodes encoded words. */
type MetadataForm = 'bytes' | 'words';

/**
 * Reads what makes a copy equal from a version of this server.
 *
 * @param storageClass that of the rule or of the target; without one, that of the version
 */
export function attributesOfInfo(
  info: ObjectInfo,
  {
    storageClass,
    form,
    now,
  }: { readonly storageClass?: string | undefined; readonly form: MetadataForm; readonly now: Date },
): CopiedAttributes {
  const kept = storageClass ?? copiedStorageClass(info.storageClass);
  const { retention, legalHold } = info.lock ?? {};
  const encryption = info.encryption && encryptionOf(info.encryption);
  return {
    content: contentOf(info),
    metadata: Object.fromEntries(Object.entries(info.metadata).map(([name, value]) => [name, headerOf(value, form)])),
    ...(info.websiteRedirect !== undefined && { websiteRedirect: info.websiteRedirect }),
    ...(kept !== undefined && { storageClass: kept }),
    ...(encryption && { encryption }),
    ...(info.checksum && { checksum: info.checksum }),
    lock: lockInForce(
      {
        ...(retention && { mode: retention.mode, until: retention.until.toISOString() }),
        ...(legalHold !== undefined && { legalHold }),
      },
      now,
    ),
    tags: Object.keys(info.tags ?? {}).length,
    hidden: { metadata: 0, rights: [] },
  };
}

/** Returns the tags in the form of a header; undefined without any. */
export function taggingOf({ tags = {} }: Pick<ObjectInfo, 'tags'>): string | undefined {
  return Object.keys(tags).length === 0 ? undefined : writeTaggingHeader(tags);
}

function contentOf(info: ObjectInfo): CopiedAttributes['content'] {
  const { contentType, contentEncoding, contentDisposition, contentLanguage, cacheControl, expires } = info;
  return {
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...(contentEncoding !== undefined && { 'content-encoding': contentEncoding }),
    ...(contentDisposition !== undefined && { 'content-disposition': contentDisposition }),
    ...(contentLanguage !== undefined && { 'content-language': contentLanguage }),
    ...(cacheControl !== undefined && { 'cache-control': cacheControl }),
    ...(expires !== undefined && { expires }),
  };
}

/** Text that no header can carry goes to every server in encoded words. */
export function headerOf(value: string, form: MetadataForm): string {
  const isHeader = /^(?:[!-~\u0080-\u00ff](?:[\t -~\u0080-\u00ff]*[!-~\u0080-\u00ff])?)?$/.test(value);
  return form === 'bytes' && isHeader && decodeWords(value) === value ? value : encodeWords(value);
}

function encryptionOf(encryption: ObjectEncryption): CopiedAttributes['encryption'] {
  if (encryption.scheme === 'SSE-C') return { kind: 'customer' };
  if (encryption.scheme === 'SSE-S3') return { kind: 'server', scheme: 'AES256', bucketKey: false };
  const { keyName, context, bucketKey = false } = encryption;
  return {
    kind: 'server',
    scheme: 'aws:kms',
    keyId: keyName,
    ...(context && { context: Buffer.from(JSON.stringify(context)).toString('base64') }),
    bucketKey,
  };
}
