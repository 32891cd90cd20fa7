import { createHash } from 'node:crypto';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { combineCrcs } from '../checksums/combine-crc.ts';
import { hasherOf } from '../checksums/hasher.ts';
import type { Checksum, CompleteMultipartUpload, CreateMultipartUpload } from '../object-layer.ts';
import type { StoredPart } from '../records/upload-record.ts';

/** Bytes of every part but the last. @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html */
const SMALLEST_PART = 5 * 1024 * 1024;

/** The uploaded parts that the client lists, in its order. Throws `InvalidPartOrder`, `InvalidPart`, `EntityTooSmall`, `MalformedXML`. */
export function chooseParts(
  listed: CompleteMultipartUpload['parts'],
  uploaded: ReadonlyMap<number, StoredPart>,
): readonly StoredPart[] {
  if (listed.length === 0) throw new S3Error('MalformedXML', 'The list of parts is empty.');
  const chosen: StoredPart[] = [];
  let previous = 0;
  for (const { partNumber, etag, checksum } of listed) {
    if (partNumber <= previous) throw new S3Error('InvalidPartOrder');
    previous = partNumber;
    const part = uploaded.get(partNumber);
    if (part === undefined || part.record.etag !== etag || !sameChecksum(checksum, part.record.checksum)) {
      throw new S3Error('InvalidPart', undefined, {
        details: { PartNumber: String(partNumber), ETag: etag.slice(0, 100) },
      });
    }
    chosen.push(part);
  }
  for (const { number, record } of chosen.slice(0, -1)) {
    if (record.size < SMALLEST_PART) {
      throw new S3Error('EntityTooSmall', undefined, {
        details: {
          PartNumber: String(number),
          ETag: record.etag,
          ProposedSize: String(record.size),
          MinSizeAllowed: String(SMALLEST_PART),
        },
      });
    }
  }
  return chosen;
}

function sameChecksum(listed: string | undefined, uploaded: Checksum | undefined): boolean {
  return listed === undefined || uploaded === undefined || listed === uploaded.value;
}

/** MD5 of the parts' ETags, a dash, how many. */
export function etagOfParts(parts: readonly StoredPart[]): string {
  const hash = createHash('md5');
  for (const { record } of parts) hash.update(Buffer.from(record.etag, 'hex'));
  return `${hash.digest('hex')}-${parts.length}`;
}

/** The checksum of the object from those of its parts; undefined where the upload has none. */
export function checksumOfParts(
  wanted: CreateMultipartUpload['checksum'],
  parts: readonly StoredPart[],
): Checksum | undefined {
  if (wanted === undefined) return undefined;
  const { algorithm, type } = wanted;
  const digests = parts.map(({ record }) => ({
    digest: Buffer.from(record.checksum?.value ?? '', 'base64'),
    size: record.size,
  }));
  if (type === 'FULL_OBJECT' && algorithm !== 'SHA1' && algorithm !== 'SHA256') {
    return { algorithm, type, value: combineCrcs(algorithm, digests).toString('base64') };
  }
  const hasher = hasherOf(algorithm);
  for (const { digest } of digests) hasher.update(digest);
  return { algorithm, type: 'COMPOSITE', value: `${hasher.digest().toString('base64')}-${parts.length}` };
}
