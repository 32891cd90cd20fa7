import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeListed, decodeObject, encodeObject, type ObjectRecord } from './object-record.ts';
import { encodeRecord, UnreadableRecord } from './record-format.ts';

const plain: ObjectRecord = {
  id: '0'.repeat(32),
  modified: 1_763_750_000_123,
  size: 256,
  etag: '348a9791dc41b89796ec3808b5b5262f',
  headers: { contentType: 'text/plain', metadata: { colour: 'grün' } },
  body: { kind: 'inline', crc: 7 },
};

const listedPlain = {
  key: 'key',
  size: 256,
  etag: '348a9791dc41b89796ec3808b5b5262f',
  modified: 1_763_750_000_123,
  encrypted: false,
  checksum: undefined,
  storageClass: undefined,
  damage: undefined,
};

const times = fc.oneof(fc.integer({ min: -1, max: 2 ** 49 }), fc.constantFrom(0, 1.5, 2 ** 48 - 1, 2 ** 48));
const records: fc.Arbitrary<ObjectRecord> = fc
  .record({
    modified: times,
    size: times,
    etag: fc.oneof(fc.stringMatching(/^[0-9a-f]{32}(-[0-9]{1,5})?$/), fc.string(), fc.string({ minLength: 256 })),
    storageClass: fc.option(fc.constantFrom('STANDARD', 'GLACIER'), { nil: undefined }),
    checksum: fc.option(
      fc.record({
        algorithm: fc.constantFrom(
          'CRC32' as const,
          'CRC32C' as const,
          'CRC64NVME' as const,
          'SHA1' as const,
          'SHA256' as const,
        ),
        type: fc.constantFrom('FULL_OBJECT' as const, 'COMPOSITE' as const),
        value: fc.string(),
      }),
      { nil: undefined },
    ),
    sealed: fc.boolean(),
    damage: fc.option(fc.constant({ found: 1, what: 'a test' }), { nil: undefined }),
  })
  .map(({ storageClass, checksum, sealed, damage, ...rest }) => ({
    ...plain,
    ...rest,
    headers: { ...plain.headers, ...(storageClass !== undefined && { storageClass }) },
    ...(checksum && { checksum }),
    ...(damage && { damage }),
    ...(sealed && { sealed: { scheme: 'SSE-S3' as const, keyName: 'k', dataKey: 'ZA==', objectKey: 'bw==' } }),
  }));

describe('the record of an object', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(records, (record) => {
        expect(decodeObject(encodeObject(record), 'bucket', 'key')).toEqual(record);
      }),
    );
  });

  it('shows a listing the same with its head as without', () => {
    fc.assert(
      fc.property(records, (record) => {
        const listed = decodeListed(encodeObject(record), 'bucket', 'key');
        expect(listed).toEqual(decodeListed(encodeRecord(record), 'bucket', 'key'));
        expect({ ...listed }).toEqual({
          key: 'key',
          size: record.size,
          etag: record.etag,
          modified: record.modified,
          encrypted: record.sealed !== undefined,
          checksum: record.checksum && { algorithm: record.checksum.algorithm, type: record.checksum.type },
          storageClass: record.headers.storageClass,
          damage: record.damage,
        });
      }),
    );
  });

  it('keeps its form on the disk', () => {
    expect(encodeObject({ ...plain, checksum: { algorithm: 'SHA256', type: 'COMPOSITE', value: 'x' } })).toEqual(
      Buffer.concat([
        Buffer.from([2, 0b1101, 0x01, 0x9a, 0xa7, 0xb1, 0x35, 0xfb, 0, 0, 0, 0, 1, 0, 32]),
        Buffer.from(plain.etag),
        Buffer.from(
          `{"id":"${plain.id}","headers":{"contentType":"text/plain","metadata":{"colour":"grün"}},` +
            '"body":{"kind":"inline","crc":7},"checksum":{"algorithm":"SHA256","type":"COMPOSITE","value":"x"}}',
        ),
      ]),
    );
  });

  it('is read where an older server wrote it, all JSON', () => {
    const old = encodeRecord(plain);
    expect(old[0]).toBe(1);
    expect(decodeObject(old, 'bucket', 'key')).toEqual(plain);
    expect({ ...decodeListed(old, 'bucket', 'key') }).toEqual(listedPlain);
  });

  it('is listed without its JSON being read', () => {
    const value = encodeObject(plain);
    value.fill(0, 15 + plain.etag.length);
    expect({ ...decodeListed(value, 'bucket', 'key') }).toEqual(listedPlain);
    expect(() => decodeObject(value, 'bucket', 'key')).toThrow('the record of object bucket/key is damaged');
  });

  it('is refused where it ends inside its head', () => {
    const value = encodeObject(plain);
    for (const length of [1, 2, 7, 14, 15, 46]) {
      expect(() => decodeListed(value.subarray(0, length), 'bucket', 'key')).toThrow(UnreadableRecord);
      expect(() => decodeObject(value.subarray(0, length), 'bucket', 'key')).toThrow(UnreadableRecord);
    }
  });

  it('is refused by name where a newer server wrote it', () => {
    const value = Buffer.from([3, 0, 0]);
    expect(() => decodeListed(value, 'bucket', 'key')).toThrow(
      'the record of object bucket/key has format 3, this server knows 2: start the newer server that wrote it',
    );
  });
});
