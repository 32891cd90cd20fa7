import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { S3Call, PolicyContext } from '../operation.ts';
import type { ObjectEncryption } from '../../objects/contract/object-layer.ts';
import { encryptionContext, givenKey, requestedEncryption } from '../encryption-headers.ts';

const schemeHeaders = [
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-aws-kms-key-id',
  'x-amz-server-side-encryption-context',
  'x-amz-server-side-encryption-bucket-key-enabled',
];

export const maxPartNumber = 10_000;

export function uploadIdOf(call: S3Call): string {
  const uploadId = call.query.get('uploadId') ?? '';
  if (uploadId === '') throw new S3Error('NoSuchUpload', undefined, { details: { UploadId: '' } });
  return uploadId;
}

/** @throws S3Error InvalidArgument unless the number is from 1 to 10,000 */
export function partNumberOf(call: S3Call): number {
  return parsePartNumber(call.query.get('partNumber') ?? '');
}

/** @throws S3Error as `partNumberOf`, with the text of AWS */
export function parsePartNumber(text: string): number {
  const number = /^[0-9]{1,10}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= maxPartNumber) return number;
  throw new S3Error('InvalidArgument', `Part number must be an integer between 1 and ${maxPartNumber}, inclusive`, {
    details: { ArgumentName: 'partNumber', ArgumentValue: text.slice(0, 100) },
  });
}

/**
 * Returns the encryption of the upload that a request belongs to, as condition keys. Requests for parts come without the encryption
 * headers, so a policy that denies unencrypted objects would otherwise deny each part.
 */
export async function uploadContext({ objects, bucket, key, query }: S3Call): Promise<PolicyContext> {
  try {
    const encryption = await objects.uploadEncryption(bucket, key, query.get('uploadId') ?? '');
    return encryption === undefined ? {} : encryptionContext(encryption);
  } catch (error) {
    // A caller without permission must not learn which buckets and uploads exist. The operation itself reports the error.
    if (error instanceof S3Error && error.status === 404) return {};
    throw error;
  }
}

/** Checks the encryption that a part repeats, as `checkRepeatedEncryption`. Requests for parts without it need no read of the upload. */
export async function checkEncryptionOfPart(call: S3Call): Promise<void> {
  if (schemeHeaders.some((name) => call.request.headers[name] !== undefined)) await checkRepeatedEncryption(call);
}

/**
 * Checks the encryption headers of a request that repeats them, as some clients do. The upload fixed its encryption when it began, so they
 * must be equal.
 *
 * @throws S3Error InvalidArgument when they differ, InvalidRequest for another customer key
 */
export async function checkRepeatedEncryption(call: S3Call): Promise<void> {
  const requested = requestedEncryption(call);
  if (requested === undefined) return;
  const { bucket, key, query } = call;
  let upload: ObjectEncryption | undefined;
  try {
    upload = await call.objects.uploadEncryption(bucket, key, query.get('uploadId') ?? '', givenKey(requested));
  } catch (error) {
    // The operation itself reports an upload that does not exist.
    if (error instanceof S3Error && error.code === 'NoSuchUpload') return;
    throw error;
  }
  const isSame =
    upload?.scheme === requested.scheme &&
    (requested.scheme !== 'SSE-KMS' ||
      upload.scheme !== 'SSE-KMS' ||
      requested.keyName === undefined ||
      requested.keyName === upload.keyName);
  if (isSame) return;
  throw new S3Error('InvalidArgument', 'The encryption differs from the one with which the upload began.', {
    details: { ArgumentName: 'x-amz-server-side-encryption' },
  });
}
