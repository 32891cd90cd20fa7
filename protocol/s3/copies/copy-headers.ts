import { ResponseError } from '../../response-error.ts';
import {
  type CopiedAttributes,
  type CopiedEncryption,
  type CopiedLock,
  type HiddenRight,
  rightsOfHidden,
} from './copied-attributes.ts';

type Headers = Record<string, string>;

/** Returns the value of `x-amz-copy-source`. */
export function copySourceHeader(source: {
  readonly bucket: string;
  readonly key: string;
  readonly versionId?: string | undefined;
}): string {
  const path = `/${source.bucket}/${encodeURIComponent(source.key).replaceAll('%2F', '/')}`;
  return source.versionId === undefined ? path : `${path}?versionId=${encodeURIComponent(source.versionId)}`;
}

export interface CopyChoices {
  /** The headers of an encryption that takes the place of that of the source. They are empty for the default of the bucket. */
  readonly encryption?: Readonly<Headers> | undefined;
  /** True where the caller leaves the lock behind, and says so. */
  readonly withoutLock?: boolean;
  /** True where the caller gives the copy tags of its own. */
  readonly withoutTags?: boolean;
}

/**
 * Returns the headers of a CopyObject that keeps the metadata and the tags: the server takes them over itself, and refuses a caller who
 * may not read or set the tags. S3 takes over nothing else.
 *
 * @throws ResponseError LockHidden, CustomerKeyNeeded
 */
export function copyingHeaders(attributes: CopiedAttributes, choices: CopyChoices = {}): Headers {
  return { ...beyondMetadata(attributes, choices, 'same') };
}

/**
 * Returns the headers of a CopyObject with the directive REPLACE for the metadata, so that a caller may change them. The server takes over
 * the tags.
 *
 * @throws ResponseError LockHidden, CustomerKeyNeeded, MetadataHidden
 */
export function replacingHeaders(attributes: CopiedAttributes, choices: CopyChoices = {}): Headers {
  return {
    ...metadataHeaders(attributes),
    ...beyondMetadata(attributes, choices, 'same'),
    'x-amz-metadata-directive': 'REPLACE',
  };
}

/**
 * Returns the headers of a new object, to which no server copies anything: of an upload, and of a copy in parts. The keys of another server
 * have names of their own: it encrypts by the same scheme under its default key.
 *
 * @param tagging the tags of the source in the form of `x-amz-tagging`, which the caller has read if there are any
 * @throws ResponseError LockHidden, TagsHidden, CustomerKeyNeeded, MetadataHidden
 */
export function newObjectHeaders(
  attributes: CopiedAttributes,
  server: 'same' | 'other',
  { tagging, ...choices }: CopyChoices & { readonly tagging: string | undefined },
): Headers {
  if (choices.withoutTags !== true) refuseHidden(attributes, ['tags'], 'TagsHidden');
  return {
    ...metadataHeaders(attributes),
    ...beyondMetadata(attributes, choices, server),
    ...(tagging !== undefined && choices.withoutTags !== true && { 'x-amz-tagging': tagging }),
  };
}

/**
 * The headers that begin an upload in parts with the checksum algorithm of its source. Of the parts, a checksum of the whole object can be
 * computed for a CRC alone.
 */
export function uploadChecksumHeaders({ checksum }: Pick<CopiedAttributes, 'checksum'>): Headers {
  if (checksum === undefined) return {};
  const { algorithm, type } = checksum;
  return {
    'x-amz-checksum-algorithm': algorithm,
    'x-amz-checksum-type': algorithm.startsWith('CRC') ? type : 'COMPOSITE',
  };
}

/** @throws ResponseError MetadataHidden */
function metadataHeaders({ content, metadata, hidden }: CopiedAttributes): Headers {
  if (hidden.metadata > 0) {
    throw new ResponseError(
      'MetadataHidden',
      `${hidden.metadata} of its metadata entries have values that no header can carry, so that a copy would lose them: remove them or give them other values first.`,
    );
  }
  return {
    ...content,
    ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, value])),
  };
}

/** The headers of what no directive of CopyObject keeps. */
function beyondMetadata(attributes: CopiedAttributes, choices: CopyChoices, server: 'same' | 'other'): Headers {
  const { websiteRedirect, storageClass, lock } = attributes;
  if (choices.withoutLock !== true) refuseHidden(attributes, ['retention', 'legal-hold'], 'LockHidden');
  return {
    ...(websiteRedirect !== undefined && { 'x-amz-website-redirect-location': websiteRedirect }),
    ...(storageClass !== undefined && { 'x-amz-storage-class': storageClass }),
    ...(choices.encryption ?? encryptionHeaders(attributes.encryption, server)),
    ...(choices.withoutLock !== true && lockHeaders(lock)),
  };
}

export function lockHeaders({ retention, legalHold }: CopiedLock): Headers {
  return {
    ...(retention && {
      'x-amz-object-lock-mode': retention.mode,
      'x-amz-object-lock-retain-until-date': retention.until,
    }),
    ...(legalHold === true && { 'x-amz-object-lock-legal-hold': 'ON' }),
  };
}

/** @throws ResponseError CustomerKeyNeeded */
function encryptionHeaders(encryption: CopiedEncryption | undefined, server: 'same' | 'other'): Headers {
  if (encryption === undefined) return {};
  if (encryption.kind === 'customer') {
    throw new ResponseError(
      'CustomerKeyNeeded',
      'It is encrypted with a key of its client (SSE-C), so that only a client with this key can copy it: coffer cp --enc-c.',
    );
  }
  const { scheme, keyId, context, bucketKey } = encryption;
  if (scheme === 'AES256') return { 'x-amz-server-side-encryption': scheme };
  return {
    'x-amz-server-side-encryption': scheme,
    ...(keyId !== undefined && server === 'same' && { 'x-amz-server-side-encryption-aws-kms-key-id': keyId }),
    ...(context !== undefined && { 'x-amz-server-side-encryption-context': context }),
    ...(bucketKey && { 'x-amz-server-side-encryption-bucket-key-enabled': 'true' }),
  };
}

/**
 * Refuses to read a source as a whole that hides something.
 *
 * @throws ResponseError LockHidden, TagsHidden, MetadataHidden
 */
export function refuseAllHidden(attributes: CopiedAttributes): void {
  refuseHidden(attributes, ['retention', 'legal-hold'], 'LockHidden');
  refuseHidden(attributes, ['tags'], 'TagsHidden');
  metadataHeaders(attributes);
}

function refuseHidden({ hidden }: CopiedAttributes, names: readonly HiddenRight[], code: string): void {
  const [missing] = hidden.rights.filter((name) => names.includes(name));
  if (missing === undefined) return;
  throw new ResponseError(
    code,
    `It has ${nameOf[missing]} that you may not read (${rightsOfHidden[missing]}), so that a copy would lose ${missing === 'tags' ? 'them' : 'it'}.`,
  );
}

const nameOf: Readonly<Record<HiddenRight, string>> = {
  tags: 'tags',
  retention: 'a retention',
  'legal-hold': 'a legal hold',
};
