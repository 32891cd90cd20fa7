import { createHash, timingSafeEqual } from 'node:crypto';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { CUSTOMER_KEY_SIZE, CustomerKey } from '../encryption/customer-key.ts';
import { header } from './header.ts';
import type { S3Call } from './operation.ts';

const target = 'x-amz-server-side-encryption-customer-';
const source = 'x-amz-copy-source-server-side-encryption-customer-';

export const customerAlgorithmHeader = `${target}algorithm`;

/** Headers that hold a key: they go into no log, no audit entry and no condition of a policy. */
export const customerKeyHeaders: ReadonlySet<string> = new Set([`${target}key`, `${source}key`]);

/**
 * The key that the client gives for the object (SSE-C), or with `source` for the source of a copy; undefined where it gives none.
 * What is missing or wrong is refused in the words of AWS, which clients show.
 *
 * @throws S3Error `InvalidArgument`, and `InvalidRequest` where the key came over plain HTTP
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/specifying-s3-c-encryption.html
 */
export function customerKeyOf(call: Pick<S3Call, 'request' | 'mayCarryKeys'>, of?: 'source'): CustomerKey | undefined {
  const { headers } = call.request;
  const prefix = of === 'source' ? source : target;
  const algorithm = header(headers, `${prefix}algorithm`);
  const key = header(headers, `${prefix}key`);
  const md5 = header(headers, `${prefix}key-md5`);
  if (algorithm === undefined && key === undefined && md5 === undefined) return undefined;
  if (!call.mayCarryKeys) {
    throw new S3Error(
      'InvalidRequest',
      'Requests specifying Server Side Encryption with Customer provided keys must be made over a secure connection.',
    );
  }
  const provide = 'Requests specifying Server Side Encryption with Customer provided keys must provide';
  if (algorithm !== 'AES256') throw refused(`${provide} a valid encryption algorithm.`, `${prefix}algorithm`);
  if (key === undefined || key === '') throw refused(`${provide} an appropriate secret key.`, `${prefix}key`);
  if (md5 === undefined || md5 === '') {
    throw refused(`${provide} the client calculated MD5 of the secret key.`, `${prefix}key-MD5`);
  }
  const bytes = Buffer.from(key, 'base64');
  // Before the length, as AWS: what was changed on its way is told as that.
  if (!isMd5Of(md5, bytes)) {
    throw refused('The calculated MD5 hash of the key did not match the hash that was provided.', `${prefix}key-MD5`);
  }
  if (bytes.length !== CUSTOMER_KEY_SIZE || bytes.toString('base64') !== key) {
    throw refused('The secret key was invalid for the specified algorithm.', `${prefix}key`);
  }
  return new CustomerKey(bytes);
}

/** How answers tell of a client's key: by its MD5, which the client knows. */
export function customerKeyAnswer(key: CustomerKey | undefined): Record<string, string> {
  return key === undefined ? {} : { [`${target}algorithm`]: 'AES256', [`${target}key-md5`]: key.md5 };
}

function isMd5Of(given: string, bytes: Buffer): boolean {
  const expected = createHash('md5').update(bytes).digest();
  const read = Buffer.from(given, 'base64');
  return read.length === expected.length && timingSafeEqual(read, expected);
}

/** The value is not repeated: it may be the key. */
function refused(message: string, name: string): S3Error {
  return new S3Error('InvalidArgument', message, { details: { ArgumentName: name } });
}
