import { S3Error } from '../../protocol/s3/s3-error.ts';
import { KEY_LIMIT } from '../store/keys.ts';
import { recordKeys } from './records/record-keys.ts';

/** Bytes of UTF-8. @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html */
const LONGEST_KEY = 1024;
/** The longest record key that has an object's name in it has an upload's id besides. */
const UPLOAD_ID = '0'.repeat(32);

/** Throws `KeyTooLongError` and `InvalidURI` for a name under which nothing can be stored. */
export function checkObjectKey(bucket: string, key: string): void {
  if (key === '') throw new S3Error('InvalidArgument', 'The key is empty.');
  if (!key.isWellFormed()) throw new S3Error('InvalidURI', 'The key is no valid UTF-8.');
  const size = Buffer.byteLength(key);
  // Zero bytes take two in a record's key.
  if (size > LONGEST_KEY || (key.includes('\0') && recordKeys.upload(bucket, key, UPLOAD_ID).length > KEY_LIMIT)) {
    throw new S3Error('KeyTooLongError', undefined, {
      details: { Size: String(size), MaxSizeAllowed: String(LONGEST_KEY) },
    });
  }
}
