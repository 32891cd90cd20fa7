import { describe, expect, it } from 'vitest';
import { announcedTrailers, payloadKind, type PayloadKind } from './payload-kind.ts';

function kindOf(value: string | undefined): PayloadKind {
  return payloadKind(value);
}

describe('x-amz-content-sha256', () => {
  it.each<[string | undefined, PayloadKind]>([
    [undefined, { kind: 'unsigned' }],
    ['UNSIGNED-PAYLOAD', { kind: 'unsigned' }],
    ['A'.repeat(64), { kind: 'sha256', sha256: 'a'.repeat(64) }],
    ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', { kind: 'streaming', signed: true, trailer: false }],
    ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', { kind: 'streaming', signed: true, trailer: true }],
    ['STREAMING-UNSIGNED-PAYLOAD-TRAILER', { kind: 'streaming', signed: false, trailer: true }],
  ])('%s', (value, kind) => {
    expect(kindOf(value)).toEqual(kind);
  });

  it('does not implement the signatures of version 4A', () => {
    expect(() => kindOf('STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD')).toThrow('not implemented');
  });

  it('must be a hash otherwise', () => {
    expect(() => kindOf('abc')).toThrow('not "abc"');
  });
});

it('x-amz-trailer announces names', () => {
  expect(announcedTrailers({ 'x-amz-trailer': 'X-Amz-Checksum-CRC32, other' })).toEqual([
    'x-amz-checksum-crc32',
    'other',
  ]);
  expect(announcedTrailers({})).toBeUndefined();
});
