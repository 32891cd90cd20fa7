import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { CustomerKey, ObjectPlace } from '../../encryption/object-key.ts';
import { DamagedCiphertext } from '../../encryption/packages.ts';
import type { CustomerSealedKeys, SealedKeys } from '../records/object-record.ts';

/**
 * Whether a request gives a client's key just where the object needs one, and the right one: then the object's own key.
 *
 * @throws S3Error `InvalidRequest`, `AccessDenied`, as AWS refuses
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

/** The key of an object that was put with a client's key. Throws as `checkCustomerKey`. */
export function openCustomerSealed(
  sealed: CustomerSealedKeys,
  place: ObjectPlace,
  given: CustomerKey | undefined,
): Buffer {
  if (given === undefined) {
    throw new S3Error(
      'InvalidRequest',
      'The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.',
    );
  }
  try {
    return open(sealed, place, given);
  } catch (error) {
    if (!(error instanceof DamagedCiphertext)) throw error;
    // A record that was tampered with looks the same.
    throw new S3Error(
      'AccessDenied',
      'Requests specifying Server Side Encryption with Customer provided keys must provide the correct secret key.',
      { cause: error },
    );
  }
}

/**
 * The key of an upload's parts, where it was begun with a client's key; undefined where it was not, and none is given. Throws
 * `InvalidRequest`.
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
    if (!(error instanceof DamagedCiphertext)) throw error;
    throw new S3Error('InvalidRequest', 'The provided encryption parameters did not match the ones used originally.', {
      cause: error,
    });
  }
}

function open(sealed: CustomerSealedKeys, place: ObjectPlace, key: CustomerKey): Buffer {
  return key.open(Buffer.from(sealed.objectKey, 'base64'), place);
}
