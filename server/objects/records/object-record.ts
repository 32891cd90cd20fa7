import type { BlobId } from '../../store/blob-store.ts';
import type { EncryptionContext } from '../../encryption/key-source.ts';
import type { Checksum, ObjectEncryption, ObjectHeaders, ObjectInfo } from '../object-layer.ts';
import { decodeRecord } from './record-format.ts';

/** What is kept of an object under `o`: all that HEAD and listings show, and where its body is. */
export interface ObjectRecord {
  /** Of this object alone: made with it, or its upload's. */
  readonly id: string;
  readonly modified: number;
  readonly size: number;
  readonly etag: string;
  readonly headers: ObjectHeaders;
  readonly body: Body;
  readonly sealed?: SealedKeys;
  readonly checksum?: Checksum;
  /** Found by a read or the scrub: the object is not served any more. */
  readonly damage?: { readonly found: number; readonly what: string };
}

/** Where the bytes are. Of `inline` and `parts`, the record of their own begins with the object's id. */
export type Body =
  | ({ readonly kind: 'inline' } & Protection)
  | ({ readonly kind: 'blob'; readonly blob: BlobId } & Protection)
  /** `crc` is the CRC-32 of the manifest; older records have none. */
  | { readonly kind: 'parts'; readonly count: number; readonly crc?: number };

/**
 * How a stream of bytes is checked: encrypted ones by their tags, under the key of this salt (base64); plain ones by their CRC-32.
 * `stored` is the CRC-32 of the ciphertext, so that a scrub needs no key; older records have none.
 */
export type Protection =
  | { readonly salt: string; readonly stored?: number }
  /** Blobs have a `gmac` besides, which costs a read of the whole half as much; older records have none. */
  | { readonly crc: number; readonly gmac?: string };

/** The sealed keys of an encrypted object; bytes are base64. */
export interface SealedKeys {
  readonly scheme: ObjectEncryption['scheme'];
  readonly keyName: string;
  readonly keyVersion?: string;
  readonly dataKey: string;
  readonly objectKey: string;
  /** What the client gave with SSE-KMS. */
  readonly context?: EncryptionContext;
}

export function decodeObject(value: Buffer, bucket: string, key: string): ObjectRecord {
  return decodeRecord(value, `object ${bucket}/${key}`) as ObjectRecord;
}

export function objectInfo(bucket: string, key: string, record: ObjectRecord): ObjectInfo {
  return {
    ...record.headers,
    bucket,
    key,
    size: record.size,
    etag: record.etag,
    lastModified: new Date(record.modified),
    ...(record.sealed && { encryption: shownEncryption(record.sealed) }),
    ...(record.checksum && { checksum: record.checksum }),
    ...(record.damage && { damage: record.damage }),
    ...(record.body.kind === 'parts' && { parts: record.body.count }),
  };
}

export function shownEncryption(sealed: SealedKeys): ObjectEncryption {
  if (sealed.scheme === 'SSE-S3') return { scheme: 'SSE-S3' };
  return { scheme: 'SSE-KMS', keyName: sealed.keyName, ...(sealed.context && { context: sealed.context }) };
}
