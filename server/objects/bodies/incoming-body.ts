import type { BlobId } from '../../store/blob-store.ts';
import type { BodyDigests } from '../checksums/body-digests.ts';
import { type BlockSums, storedBlockSums } from '../checksums/block-sums.ts';
import type { BodySource, ExpectedDigests } from '../object-layer.ts';
import type { Protection } from '../records/object-record.ts';
import { bodyBytesPassed } from '../../../platform/body-buffers.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';

export interface IncomingBody {
  readonly body: BodySource;
  readonly size: number;
  readonly digests: ExpectedDigests;
  /** Whether the ETag is to be the MD5. */
  readonly md5: boolean;
  /** Encrypts under a stream key of its own. */
  readonly objectKey: Buffer | undefined;
  /** Up to this size the bytes are given back instead of becoming a blob. */
  readonly inlineLimit: number;
  /** Whether block sums go to a record of their own, however few. */
  readonly sumsApart?: boolean;
}

/** A blob, and what must be written under `c` by the commit that claims it. */
export interface StoredBlob {
  readonly blob: BlobId;
  readonly recordedSums?: BlockSums;
}

/** A body that came whole and was what the request said; nothing refers to it yet. */
export interface ReceivedBody {
  readonly digests: BodyDigests;
  readonly protection: Protection;
  readonly stored: { readonly kind: 'inline'; readonly bytes: Buffer } | ({ readonly kind: 'blob' } & StoredBlob);
}

/** What an encrypted body leaves to be checked by: its salt, and the CRC-32 or the GMAC of what is stored. */
type Sealed = { readonly salt: Buffer } & ({ readonly stored: number } | { readonly mac: string });

interface Protected {
  readonly protection: Protection;
  /** What the commit that claims the blob must write under `c`. */
  readonly recordedSums?: BlockSums;
}

/** By what a body is checked when it is read: sums of a plain one, what stands in `sealed` of an encrypted one. */
export function protectionOf({ sums }: BodyDigests, sealed: Sealed | undefined, sumsApart = false): Protected {
  if (sealed !== undefined) return { protection: { ...sealed, salt: sealed.salt.toString('base64') } };
  if (sums === undefined) throw new Error('a plain body has a sum');
  if ('crc' in sums) return { protection: sums };
  const protection = storedBlockSums(sums, sumsApart);
  return { protection, ...('root' in protection && { recordedSums: sums }) };
}

/** A body that is small enough to be in memory. Throws `IncompleteBody` when it is not of the announced size, and what the body throws. */
export async function collectBody(body: BodySource, size: number): Promise<Buffer> {
  const bytes = body.whole === undefined ? await gathered(body, size) : await body.whole();
  checkLength(size, bytes.length, 'whole');
  bodyBytesPassed(size);
  return bytes;
}

async function gathered(body: BodySource, size: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    checkLength(size, total);
    body.hold?.(chunk.length, 'known');
    chunks.push(chunk);
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, total);
}

/** Throws `IncompleteBody` when more bytes came than were announced or, at the end, fewer. */
export function checkLength(announced: number, came: number, whole?: 'whole'): void {
  if (came === announced || (came < announced && whole === undefined)) return;
  const told = came > announced ? `more than ${announced}` : String(came);
  throw new S3Error('IncompleteBody', `The request announced a body of ${announced} bytes; ${told} came.`);
}
