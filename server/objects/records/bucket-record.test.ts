import { describe, expect, it } from 'vitest';
import { decodeBucket, encodeBucket } from './bucket-record.ts';
import { decodeRecord } from './record-format.ts';

const plain = { created: 1, location: 'us-east-1' };

describe('the record of a bucket', () => {
  it.each([
    ['with versions', { ...plain, versioning: { status: 'Suspended' as const } }],
    ['with object lock', { ...plain, objectLock: {} }],
  ])('%s is refused by servers that know no versions, which would lose some', (_, record) => {
    const value = encodeBucket(record);
    expect(decodeBucket(value, 'photos')).toEqual(record);
    // Those servers decode the record of a bucket so.
    expect(() => decodeRecord(value, 'bucket photos')).toThrow(
      'the record of bucket photos has format 2, this server knows 1: start the newer server that wrote it',
    );
  });

  it('with a public access block is refused by servers that know none, which would let the public in', () => {
    const flags = {
      blockPublicAcls: true,
      ignorePublicAcls: true,
      blockPublicPolicy: true,
      restrictPublicBuckets: true,
    };
    const record = { ...plain, versioning: { status: 'Enabled' as const }, publicAccessBlock: flags };
    const value = encodeBucket(record);
    expect(decodeBucket(value, 'photos')).toEqual(record);
    expect(value[0]).toBe(3);
  });

  it('without versions is read by servers that know none', () => {
    expect(decodeRecord(encodeBucket(plain), 'bucket photos')).toEqual(plain);
  });

  it('of a newer format is refused by name', () => {
    const value = encodeBucket(plain);
    value[0] = 5;
    expect(() => decodeBucket(value, 'photos')).toThrow(
      'the record of bucket photos has format 5, this server knows 4',
    );
  });
});
