import { describe, expect, it } from 'vitest';
import type { IncomingRequest } from '../http/contract/request.ts';
import { encryptionHeaders, requestedEncryption as requestedOf } from './encryption-headers.ts';

function requestedEncryption(headers: Record<string, string>) {
  return requestedOf({ request: { headers } as unknown as IncomingRequest, allowsCustomerKeys: true });
}

const scheme = 'x-amz-server-side-encryption';
const context = Buffer.from('{"a":"b"}').toString('base64');

describe('requestedEncryption', () => {
  it.each([
    [{}, undefined],
    [{ [scheme]: 'AES256' }, { scheme: 'SSE-S3' }],
    [{ [scheme]: 'aws:kms' }, { scheme: 'SSE-KMS' }],
    [
      { [scheme]: 'aws:kms', [`${scheme}-aws-kms-key-id`]: 'k' },
      { scheme: 'SSE-KMS', keyName: 'k' },
    ],
    [
      { [scheme]: 'aws:kms', [`${scheme}-aws-kms-key-id`]: 'arn:aws:kms:k' },
      { scheme: 'SSE-KMS', keyName: 'k' },
    ],
    [
      { [scheme]: 'aws:kms', [`${scheme}-aws-kms-key-id`]: 'arn:aws:kms:us-east-1:123456789012:key/k' },
      { scheme: 'SSE-KMS', keyName: 'k' },
    ],
    [
      { [scheme]: 'aws:kms', [`${scheme}-context`]: context },
      { scheme: 'SSE-KMS', context: { a: 'b' } },
    ],
    [
      { [scheme]: 'aws:kms', [`${scheme}-bucket-key-enabled`]: 'True' },
      { scheme: 'SSE-KMS', bucketKey: true },
    ],
  ] as [Record<string, string>, unknown][])('reads %o', (headers, expected) => {
    expect(requestedEncryption(headers)).toEqual(expected);
  });

  it.each([
    ['another scheme', { [scheme]: 'rot13' }, 'InvalidEncryptionAlgorithmError'],
    ['a key without SSE-KMS', { [`${scheme}-aws-kms-key-id`]: 'k' }, 'InvalidArgument'],
    ['a context with SSE-S3', { [scheme]: 'AES256', [`${scheme}-context`]: context }, 'InvalidArgument'],
    ['a context that is no JSON', { [scheme]: 'aws:kms', [`${scheme}-context`]: 'e30x' }, 'InvalidArgument'],
    ['a context that is a list', { [scheme]: 'aws:kms', [`${scheme}-context`]: 'W10=' }, 'InvalidArgument'],
    ["a client's algorithm without its key", { [`${scheme}-customer-algorithm`]: 'AES256' }, 'InvalidArgument'],
    [
      'a bucket key that is neither on nor off',
      { [scheme]: 'aws:kms', [`${scheme}-bucket-key-enabled`]: 'perhaps' },
      'InvalidArgument',
    ],
  ])('refuses %s', (_what, headers, code) => {
    expect(() => requestedEncryption(headers)).toThrow(expect.objectContaining({ code }));
  });
});

describe('encryptionHeaders', () => {
  it('return key and context in the form of a request', () => {
    const headers = encryptionHeaders({ scheme: 'SSE-KMS', keyName: 'k', context: { a: 'b' } });
    expect(headers).toEqual({
      [scheme]: 'aws:kms',
      [`${scheme}-aws-kms-key-id`]: 'arn:aws:kms:k',
      [`${scheme}-context`]: context,
    });
    expect(requestedEncryption(headers)).toEqual({ scheme: 'SSE-KMS', keyName: 'k', context: { a: 'b' } });
  });
});
