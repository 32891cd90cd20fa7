import { keyNameOf } from '../../protocol/s3/bucket-encryption.ts';
import { createHash } from 'node:crypto';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { CUSTOMER_KEY_SIZE, CustomerKey } from '../encryption/object-key.ts';
import { header } from './request.ts';
import type { S3Call, PolicyContext } from './operation.ts';
import type { EncryptionContext } from '../encryption/key-source.ts';
import type { ObjectEncryption, RequestedEncryption } from '../objects/contract/object-layer.ts';
import { timingSafeEqual } from '../../protocol/timing-safe-equal.ts';

const target = 'x-amz-server-side-encryption-customer-';
const source = 'x-amz-copy-source-server-side-encryption-customer-';

const customerAlgorithmHeader = `${target}algorithm`;

/** These headers hold a key. No log, audit entry or condition of a policy gets them. */
export const customerKeyHeaders: ReadonlySet<string> = new Set([`${target}key`, `${source}key`]);

/**
 * Returns the customer key of the object (SSE-C), or with `source` of the source of a copy; undefined if the request has none. Errors have
 * the text of AWS, which clients show.
 *
 * @throws S3Error `InvalidArgument`, and `InvalidRequest` when the key came over plain HTTP
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/specifying-s3-c-encryption.html
 */
export function customerKeyOf(
  call: Pick<S3Call, 'request' | 'allowsCustomerKeys'>,
  of?: 'source',
): CustomerKey | undefined {
  const { headers } = call.request;
  const prefix = of === 'source' ? source : target;
  const algorithm = header(headers, `${prefix}algorithm`);
  const key = header(headers, `${prefix}key`);
  const md5 = header(headers, `${prefix}key-md5`);
  if (algorithm === undefined && key === undefined && md5 === undefined) return undefined;
  if (!call.allowsCustomerKeys) {
    throw new S3Error(
      'InvalidRequest',
      'Requests specifying Server Side Encryption with Customer provided keys must be made over a secure connection.',
    );
  }
  const provide = 'Requests specifying Server Side Encryption with Customer provided keys must provide';
  if (algorithm !== 'AES256') throw rejected(`${provide} a valid encryption algorithm.`, `${prefix}algorithm`);
  if (key === undefined || key === '') throw rejected(`${provide} an appropriate secret key.`, `${prefix}key`);
  if (md5 === undefined || md5 === '') {
    throw rejected(`${provide} the client calculated MD5 of the secret key.`, `${prefix}key-MD5`);
  }
  const bytes = Buffer.from(key, 'base64');
  // AWS checks the digest before the length, so that a key that changed in transit gets this error.
  if (!isMd5Of(md5, bytes)) {
    throw rejected('The calculated MD5 hash of the key did not match the hash that was provided.', `${prefix}key-MD5`);
  }
  if (bytes.length !== CUSTOMER_KEY_SIZE || bytes.toString('base64') !== key) {
    throw rejected('The secret key was invalid for the specified algorithm.', `${prefix}key`);
  }
  return new CustomerKey(bytes);
}

/** Returns the headers by which an answer identifies a customer key: its MD5. */
function customerKeyAnswer(key: CustomerKey | undefined): Record<string, string> {
  return key === undefined ? {} : { [`${target}algorithm`]: 'AES256', [`${target}key-md5`]: key.md5 };
}

function isMd5Of(given: string, bytes: Buffer): boolean {
  const expected = createHash('md5').update(bytes).digest();
  const read = Buffer.from(given, 'base64');
  return timingSafeEqual(read, expected);
}

/** The message does not repeat the value, which may be the key. */
function rejected(message: string, name: string): S3Error {
  return new S3Error('InvalidArgument', message, { details: { ArgumentName: name } });
}

const scheme = 'x-amz-server-side-encryption';
const keyId = `${scheme}-aws-kms-key-id`;
export { keyId as keyIdHeader };
const contextHeader = `${scheme}-context`;
const bucketKeyHeader = `${scheme}-bucket-key-enabled`;
const arnPrefix = 'arn:aws:kms:';

/** Reads the encryption that the headers of a write request; undefined leaves the choice to the bucket. */
export function requestedEncryption(
  call: Pick<S3Call, 'request' | 'allowsCustomerKeys'>,
): RequestedEncryption | undefined {
  const { headers } = call.request;
  const customerKey = customerKeyOf(call);
  const requested = header(headers, scheme);
  const key = header(headers, keyId);
  const context = header(headers, contextHeader);
  const bucketKey = bucketKeyEnabled(header(headers, bucketKeyHeader));
  if (customerKey !== undefined) {
    if (requested === undefined && key === undefined && context === undefined) return { scheme: 'SSE-C', customerKey };
    throw new S3Error(
      'InvalidArgument',
      'Server Side Encryption with Customer provided key is incompatible with the encryption method specified.',
      { details: { ArgumentName: scheme } },
    );
  }
  if (requested === 'aws:kms') {
    const keyName = key === undefined ? undefined : kmsKeyName(key);
    return {
      scheme: 'SSE-KMS',
      ...(keyName === undefined ? {} : { keyName }),
      ...(context === undefined ? {} : { context: parseContext(context) }),
      ...(bucketKey === undefined ? {} : { bucketKey }),
    };
  }
  if (key !== undefined || context !== undefined) {
    throw new S3Error('InvalidArgument', `${keyId} and ${contextHeader} need ${scheme}: aws:kms.`);
  }
  if (bucketKey === true) throw new S3Error('InvalidArgument', `${bucketKeyHeader} needs ${scheme}: aws:kms.`);
  if (requested === undefined) return undefined;
  if (requested === 'AES256') return { scheme: 'SSE-S3' };
  throw new S3Error(
    'InvalidEncryptionAlgorithmError',
    `The encryption "${requested.slice(0, 40)}" is not supported; use AES256 or aws:kms.`,
  );
}

/** Returns the customer key of an SSE-C request, for the headers of the answer. */
export function givenKey(encryption: RequestedEncryption | undefined): CustomerKey | undefined {
  return encryption?.scheme === 'SSE-C' ? encryption.customerKey : undefined;
}

/** Returns the name of a key, without an ARN before it. The empty name is the default key. */
function kmsKeyName(text: string): string | undefined {
  const name = keyNameOf(text);
  return name === '' ? undefined : name;
}

/** Returns the condition keys for the encryption of an object. */
export function encryptionContext(encryption: ObjectEncryption): PolicyContext {
  if (encryption.scheme === 'SSE-C') return { [`s3:${customerAlgorithmHeader}`]: ['AES256'] };
  if (encryption.scheme === 'SSE-S3') return { [`s3:${scheme}`]: ['AES256'] };
  return { [`s3:${scheme}`]: ['aws:kms'], [`s3:${keyId}`]: [encryption.keyName] };
}

/** Returns the headers that describe the encryption of an object; none if it is not encrypted. `customerKey` is the key of the request. */
export function encryptionHeaders(
  encryption: ObjectEncryption | undefined,
  customerKey?: CustomerKey,
): Record<string, string> {
  if (encryption === undefined) return {};
  if (encryption.scheme === 'SSE-S3') return { [scheme]: 'AES256' };
  if (encryption.scheme === 'SSE-C') return customerKeyAnswer(customerKey);
  const { context, bucketKey } = encryption;
  return {
    [scheme]: 'aws:kms',
    [keyId]: arnPrefix + encryption.keyName,
    ...(context === undefined ? {} : { [contextHeader]: Buffer.from(JSON.stringify(context)).toString('base64') }),
    // AWS sends the header only if the bucket key is on.
    ...(bucketKey === true ? { [bucketKeyHeader]: 'true' } : {}),
  };
}

function bucketKeyEnabled(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  const lower = text.toLowerCase();
  if (lower === 'true' || lower === 'false') return lower === 'true';
  throw new S3Error('InvalidArgument', `${bucketKeyHeader} must be true or false.`, {
    details: { ArgumentName: bucketKeyHeader, ArgumentValue: text.slice(0, 40) },
  });
}

function parseContext(text: string): EncryptionContext {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    parsed = undefined;
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
    const entries = Object.entries(parsed);
    if (entries.every((entry): entry is [string, string] => typeof entry[1] === 'string')) {
      return Object.fromEntries(entries);
    }
  }
  throw new S3Error('InvalidArgument', `${contextHeader} must be base64 of a JSON object whose values are strings.`);
}
