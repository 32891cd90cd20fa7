import { createHash } from 'node:crypto';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { combineCrcs, isCrc } from '../checksums/combine-crc.ts';
import { hasherOf } from '../../../platform/checksums/hashers.ts';
import type {
  Checksum,
  CompleteMultipartUpload,
  CreateMultipartUpload,
  GivenChecksum,
} from '../contract/object-layer.ts';
import type { Digests } from '../records/stored-digests.ts';
import type { StoredPart } from '../records/upload-record.ts';

/**
 * The minimum size of every part but the last.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html
 */
const MIN_PART_SIZE = 5 * 1024 * 1024;

type UploadChecksum = NonNullable<CreateMultipartUpload['checksum']>;

/**
 * The checksum of an upload that began without one.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html
 */
export const DEFAULT_CHECKSUM = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT' } as const satisfies UploadChecksum;

/** A part with its digests as clients see them. */
export interface OpenedPart extends StoredPart {
  readonly digests: Digests;
}

/**
 * Selects the uploaded parts that the client lists, in its order. Throws `InvalidPartOrder`, `InvalidPart`, `EntityTooSmall`,
 * `MalformedXML`.
 */
export function chooseParts(
  uploadId: string,
  listed: CompleteMultipartUpload['parts'],
  uploaded: ReadonlyMap<number, OpenedPart>,
): readonly OpenedPart[] {
  if (listed.length === 0) throw new S3Error('MalformedXML', 'The list of parts is empty.');
  const chosen: OpenedPart[] = [];
  let previous = 0;
  for (const { partNumber, etag, checksum } of listed) {
    if (partNumber <= previous) {
      throw new S3Error('InvalidPartOrder', undefined, { details: { UploadId: uploadId } });
    }
    previous = partNumber;
    const part = uploaded.get(partNumber);
    if (part === undefined || part.digests.etag !== etag || !sameChecksum(checksum, part.digests.checksum)) {
      throw new S3Error('InvalidPart', undefined, {
        details: { UploadId: uploadId, PartNumber: String(partNumber), ETag: etag.slice(0, 100) },
      });
    }
    chosen.push(part);
  }
  for (const { number, record, digests } of chosen.slice(0, -1)) {
    if (record.size < MIN_PART_SIZE) {
      throw new S3Error('EntityTooSmall', undefined, {
        details: {
          PartNumber: String(number),
          ETag: digests.etag,
          ProposedSize: String(record.size),
          MinSizeAllowed: String(MIN_PART_SIZE),
        },
      });
    }
  }
  return chosen;
}

/**
 * A checksum that was never computed cannot be confirmed: the part does not match. As in S3, that is also so for the checksum with which a part
 * of an upload without one came: another one is stored.
 */
function sameChecksum(listed: GivenChecksum | undefined, uploaded: Checksum | undefined): boolean {
  return listed === undefined || (listed.algorithm === uploaded?.algorithm && listed.value === uploaded.value);
}

/** Computes the ETag: the MD5 of the parts' ETags, a dash, the count of parts. */
export function etagOfParts(etags: readonly string[]): string {
  const hash = createHash('md5');
  for (const etag of etags) hash.update(Buffer.from(etag, 'hex'));
  return `${hash.digest('hex')}-${etags.length}`;
}

/**
 * Checks that request and upload agree on the kind of checksum. A composite checksum needs those of all parts, as in S3. Throws
 * `InvalidRequest`.
 */
export function checkChecksumMode(begun: CreateMultipartUpload['checksum'], request: CompleteMultipartUpload): void {
  const wanted: UploadChecksum = begun ?? DEFAULT_CHECKSUM;
  const { checksum, checksumType, parts } = request;
  if (checksumType !== undefined && checksumType !== wanted.type) {
    throw new S3Error(
      'InvalidRequest',
      `The upload was created using the ${wanted.type} checksum mode. The complete request must use the same checksum mode.`,
    );
  }
  if (checksum !== undefined && checksum.algorithm !== wanted.algorithm) {
    throw new S3Error(
      'InvalidRequest',
      `Checksum type mismatch: the upload was created with ${wanted.algorithm}, the complete request has ${checksum.algorithm}.`,
    );
  }
  if (wanted.type !== 'COMPOSITE') return;
  const without = parts.find((part) => part.checksum === undefined);
  if (without === undefined) return;
  throw new S3Error(
    'InvalidRequest',
    `The upload was created using a ${wanted.algorithm.toLowerCase()} checksum. The complete request must include the checksum for each part. It was missing for part ${without.partNumber} in the request.`,
  );
}

/** Checks that size and checksum of the object are those of the request. Throws `BadDigest` and `InvalidRequest`. */
export function checkWholeObject(
  { checksum: given, size }: CompleteMultipartUpload,
  object: { readonly size: number; readonly checksum: Checksum | undefined },
): void {
  if (size !== undefined && size !== object.size) {
    throw new S3Error(
      'InvalidRequest',
      `The provided x-amz-mp-object-size header value ${size} does not match what was computed: ${object.size}.`,
    );
  }
  if (given === undefined) return;
  const { checksum } = object;
  // Clients send a composite checksum with and without the count of parts.
  const accepted = checksum === undefined ? [] : [checksum.value, checksum.value.replace(/-\d+$/, '')];
  if (given.algorithm === checksum?.algorithm && accepted.includes(given.value)) return;
  throw new S3Error('BadDigest', `The ${given.algorithm} you specified did not match the calculated checksum.`);
}

/**
 * Computes the checksum of the object from those of its parts. An upload that began without one may have parts with other checksums, which
 * their requests sent, or with none, under a key of the client or from an older server. Then it is undefined.
 */
export function checksumOfParts(
  begun: CreateMultipartUpload['checksum'],
  parts: readonly OpenedPart[],
): Checksum | undefined {
  const { algorithm, type } = begun ?? DEFAULT_CHECKSUM;
  if (begun === undefined && parts.some(({ digests }) => digests.checksum?.algorithm !== algorithm)) return undefined;
  const sums = parts.map(({ record, digests }) => ({
    digest: Buffer.from(digests.checksum?.value ?? '', 'base64'),
    size: record.size,
  }));
  if (type === 'FULL_OBJECT' && isCrc(algorithm)) {
    return { algorithm, type, value: combineCrcs(algorithm, sums).toString('base64') };
  }
  const hasher = hasherOf(algorithm);
  for (const { digest } of sums) hasher.update(digest);
  return { algorithm, type: 'COMPOSITE', value: `${hasher.digest().toString('base64')}-${parts.length}` };
}
