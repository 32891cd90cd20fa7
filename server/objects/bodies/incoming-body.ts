import { crc32 } from 'node:zlib';
import { encryptBuffer, SALT_SIZE, streamKey } from '../../encryption/packages.ts';
import { type BodyDigests, digestTogether, digestWhole, MIN_TOGETHER } from '../checksums/body-digests.ts';
import { type BlockSums, storedBlockSums } from '../checksums/block-sums.ts';
import type { ExpectedDigests } from '../contract/object-layer.ts';
import type { BodySource } from '../contract/body-source.ts';
import type { Protection } from '../records/object-record.ts';
import { bodyBytesPassed } from '../../streams/body-memory.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { StoredBlob } from '../records/blob-claims.ts';

export interface IncomingBody {
  readonly bucket: string;
  readonly body: BodySource;
  readonly size: number;
  readonly digests: ExpectedDigests;
  /** True where the ETag is the MD5. */
  readonly md5: boolean;
  /** The body is encrypted under a stream key that is derived from this key. */
  readonly objectKey: Buffer | undefined;
  /** Bodies up to this size are returned instead of becoming a blob. */
  readonly inlineLimit: number;
  /** True where the body may share a file with others: the body of an object, whose owner record then names it. */
  readonly packed?: boolean;
  /** True where block sums always have a record of their own. */
  readonly sumsInRecord?: boolean;
}

/** A body that came whole and matched its request. Nothing refers to it yet. */
export interface ReceivedBody {
  /** Plaintext bytes. */
  readonly size: number;
  readonly digests: BodyDigests;
  readonly protection: Protection;
  readonly stored: { readonly kind: 'inline'; readonly bytes: Buffer } | ({ readonly kind: 'blob' } & StoredBlob);
}

/** The fields that verify an encrypted body: its salt, and the CRC-32 or the GMAC of the ciphertext. */
type Sealed = { readonly salt: Buffer } & ({ readonly stored: number } | { readonly mac: string });

interface Protected {
  readonly protection: Protection;
  /** The block sums that the commit which claims the blob must write under `c`. */
  readonly recordedSums?: BlockSums;
}

/** Returns the integrity data of a stored body: sums of a plain body, `sealed` of an encrypted one. */
export function protectionOf({ sums }: BodyDigests, sealed: Sealed | undefined, sumsInRecord = false): Protected {
  if (sealed !== undefined) return { protection: { ...sealed, salt: sealed.salt.toString('base64') } };
  if (sums === undefined) throw new Error('a plain body has a sum');
  if ('crc' in sums) return { protection: sums };
  const protection = storedBlockSums(sums, sumsInRecord);
  return { protection, ...('root' in protection && { recordedSums: sums }) };
}

/**
 * Receives a body that becomes a record: it has at most `inlineLimit` bytes. Throws as `collectBody`, and `BadDigest`.
 */
export async function receiveInline(
  random: (size: number) => Buffer,
  { body, size, digests: expected, md5, objectKey }: IncomingBody,
): Promise<ReceivedBody> {
  const plaintext = await collectBody(body, size);
  const wanted = { md5, sum: objectKey === undefined };
  const digests =
    size < MIN_TOGETHER ? digestWhole(plaintext, expected, wanted) : await digestTogether(plaintext, expected, wanted);
  if (objectKey === undefined) {
    return { size, digests, ...protectionOf(digests, undefined), stored: { kind: 'inline', bytes: plaintext } };
  }
  const salt = random(SALT_SIZE);
  const bytes = encryptBuffer(plaintext, streamKey(objectKey, salt));
  return {
    size,
    digests,
    ...protectionOf(digests, { salt, stored: crc32(bytes) }),
    stored: { kind: 'inline', bytes },
  };
}

/**
 * Collects a body that is small enough for memory. Throws `IncompleteBody` where its size is not the announced one, and the errors of
 * the body.
 */
async function collectBody(body: BodySource, size: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  await body.pipe((chunk) => {
    total += chunk.length;
    checkLength(size, total);
    body.hold?.(chunk.length, 'known');
    chunks.push(chunk);
    return undefined;
  });
  checkLength(size, total, 'whole');
  bodyBytesPassed(size);
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const whole = Buffer.concat(chunks, total);
  for (const chunk of chunks) body.giveBack?.(chunk);
  return whole;
}

/** Throws `IncompleteBody` when more bytes came than were announced or, at the end, fewer. */
export function checkLength(announced: number, came: number, whole?: 'whole'): void {
  if (came === announced || (came < announced && whole === undefined)) return;
  const received = came > announced ? `more than ${announced}` : String(came);
  throw new S3Error('IncompleteBody', `The request announced a body of ${announced} bytes; ${received} came.`);
}
