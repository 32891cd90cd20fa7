import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { EncryptionContext } from '../encryption/key-source.ts';
import type { ObjectEncryption, RequestedEncryption } from '../objects/object-layer.ts';
import { header } from './header.ts';

const scheme = 'x-amz-server-side-encryption';
const keyId = `${scheme}-aws-kms-key-id`;
const contextHeader = `${scheme}-context`;
const arnPrefix = 'arn:aws:kms:';

/** By which clients give keys of their own. */
const customerHeaders = [
  `${scheme}-customer-algorithm`,
  `${scheme}-customer-key`,
  `x-amz-copy-source-server-side-encryption-customer-algorithm`,
] as const;

/** What the headers of a write ask for; undefined leaves it to the bucket. */
export function requestedEncryption(headers: IncomingHttpHeaders): RequestedEncryption | undefined {
  refuseCustomerKeys(headers);
  const asked = header(headers, scheme);
  const key = header(headers, keyId);
  const context = header(headers, contextHeader);
  if (asked === 'aws:kms') {
    const keyName = key === undefined ? undefined : kmsKeyName(key);
    return {
      scheme: 'SSE-KMS',
      ...(keyName === undefined ? {} : { keyName }),
      ...(context === undefined ? {} : { context: parseContext(context) }),
    };
  }
  if (key !== undefined || context !== undefined) {
    throw new S3Error('InvalidArgument', `${keyId} and ${contextHeader} need ${scheme}: aws:kms.`);
  }
  if (asked === undefined) return undefined;
  if (asked === 'AES256') return { scheme: 'SSE-S3' };
  throw new S3Error(
    'InvalidEncryptionAlgorithmError',
    `The encryption "${asked.slice(0, 40)}" is not supported; use AES256 or aws:kms.`,
  );
}

/** The name of a key, with or without the prefix of an ARN; '' is the default key. */
export function kmsKeyName(text: string): string | undefined {
  const name = text.startsWith(arnPrefix) ? text.slice(arnPrefix.length) : text;
  return name === '' ? undefined : name;
}

/** The headers that tell how an object is encrypted; none where it is not. */
export function encryptionHeaders(encryption: ObjectEncryption | undefined): Record<string, string> {
  if (encryption === undefined) return {};
  if (encryption.scheme === 'SSE-S3') return { [scheme]: 'AES256' };
  const { context } = encryption;
  return {
    [scheme]: 'aws:kms',
    [keyId]: arnPrefix + encryption.keyName,
    ...(context === undefined ? {} : { [contextHeader]: Buffer.from(JSON.stringify(context)).toString('base64') }),
  };
}

/** Keys of the client's own are refused, never silently ignored: the client believes that only it can read the object. */
export function refuseCustomerKeys(headers: IncomingHttpHeaders): void {
  if (customerHeaders.every((name) => headers[name] === undefined)) return;
  throw new S3Error(
    'NotImplemented',
    'Encryption with keys of the client (SSE-C) is not implemented; use SSE-KMS or SSE-S3.',
  );
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
