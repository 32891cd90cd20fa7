import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { CustomerKey, ObjectPlace } from '../../encryption/object-key.ts';
import type { CustomerSealedKeys, SealedKeys } from '../records/object-record.ts';
import { isStoreError } from '../../store/store-error.ts';

/**
 * Returns the object's own key for a request with the client's key (SSE-C). Refuses a request without the key, with another key, and
 * with a key that the object does not need.
 *
 * @throws S3Error `InvalidRequest`, `AccessDenied`, as AWS
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/ServerSideEncryptionCustomerKeys.html
 */
export function checkCustomerKey(
  sealed: SealedKeys | undefined,
  place: ObjectPlace,
  given: CustomerKey | undefined,
): Buffer | undefined {
  if (sealed?.scheme === 'SSE-C') return openCustomerSealed(sealed, place, given);
  if (given !== undefined) {
    throw new S3Error('InvalidRequest', 'The encryption parameters are not applicable to this object.');
  }
  return undefined;
}

/** Opens the key of an object that was stored with a client's key. Throws as `checkCustomerKey`. */
export function openCustomerSealed(
  sealed: CustomerSealedKeys,
  place: ObjectPlace,
  given: CustomerKey | undefined,
): Buffer {
  if (given === undefined) {
    throw new S3Error(
      'InvalidRequest',
      'The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object: it needs the key of its client (SSE-C).',
    );
  }
  try {
    return open(sealed, place, given);
  } catch (error) {
    if (!isStoreError(error, 'ciphertext-damaged')) throw error;
    // A manipulated record fails in the same way.
    throw new S3Error(
      'AccessDenied',
      'Requests specifying Server Side Encryption with Customer provided keys must provide the correct secret key.',
      { cause: error },
    );
  }
}

/**
 * Opens the key of an upload that was created with a client's key; undefined where it was created without one, and none is given.
 * Throws `InvalidRequest`.
 */
export function openUploadSealed(
  sealed: SealedKeys | undefined,
  place: ObjectPlace,
  given: CustomerKey | undefined,
): Buffer | undefined {
  if ((sealed?.scheme === 'SSE-C') !== (given !== undefined)) {
    throw new S3Error(
      'InvalidRequest',
      'The multipart upload initiate requested encryption. Subsequent part requests must include the appropriate encryption parameters.',
    );
  }
  if (sealed?.scheme !== 'SSE-C' || given === undefined) return undefined;
  try {
    return open(sealed, place, given);
  } catch (error) {
    if (!isStoreError(error, 'ciphertext-damaged')) throw error;
    throw new S3Error('InvalidRequest', 'The provided encryption parameters did not match the ones used originally.', {
      cause: error,
    });
  }
}

function open(sealed: CustomerSealedKeys, place: ObjectPlace, key: CustomerKey): Buffer {
  return key.open(Buffer.from(sealed.objectKey, 'base64'), place);
}
