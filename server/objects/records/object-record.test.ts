import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeObject, encodeObject, isTiered, objectSize, type ObjectRecord } from './object-record.ts';
import type { BlobId, SegmentId } from '../../store/blob-store.ts';
import { packedId } from '../../store/packed-id.ts';
import { decodeListed } from './listed-objects.ts';
import { encodeRecord } from './record-format.ts';
import { SealedEtags } from './sealed-etags.ts';
import { StoreError } from '../../store/store-error.ts';

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

/** Records as a server of format 2 wrote them: the first with a composite SHA-256, the second encrypted, with a storage class. */
const FORMAT_2 = [
  'Ag0BmqexNfsAAAAAAQAgMzQ4YTk3OTFkYzQxYjg5Nzk2ZWMzODA4YjViNTI2MmZ7ImlkIjoiMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMD',
  'AwMDAiLCJoZWFkZXJzIjp7ImNvbnRlbnRUeXBlIjoidGV4dC9wbGFpbiIsIm1ldGFkYXRhIjp7ImNvbG91ciI6Imdyw7xuIn19LCJib2R5Ijp7',
  'ImtpbmQiOiJpbmxpbmUiLCJjcmMiOjd9LCJjaGVja3N1bSI6eyJhbGdvcml0aG0iOiJTSEEyNTYiLCJ0eXBlIjoiQ09NUE9TSVRFIiwidmFsdW',
  'UiOiJ4In19',
].join('');
const FORMAT_2_ENCRYPTED = [
  'AjABmqexNfsAAAAAAQAgMzQ4YTk3OTFkYzQxYjg5Nzk2ZWMzODA4YjViNTI2MmZ7ImlkIjoiMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMD',
  'AwMDAiLCJoZWFkZXJzIjp7InN0b3JhZ2VDbGFzcyI6IkdMQUNJRVIiLCJtZXRhZGF0YSI6e319LCJib2R5Ijp7ImtpbmQiOiJibG9iIiwiYmxv',
  'YiI6IjExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExIiwic2FsdCI6ImMyRnNkQT09IiwibWFjIjoiYldGaiJ9LCJzZWFsZWQiOnsic2',
  'NoZW1lIjoiU1NFLVMzIiwia2V5TmFtZSI6ImsiLCJkYXRhS2V5IjoiWkE9PSIsIm9iamVjdEtleSI6ImJ3PT0ifX0=',
].join('');

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
        const listed = decodeListed(encodeObject(record), 'bucket', 'key', new SealedEtags());
        expect(listed).toEqual(decodeListed(encodeRecord(record), 'bucket', 'key', new SealedEtags()));
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
        Buffer.from([3, 0b1_0101, 0, 0x01, 0x9a, 0xa7, 0xb1, 0x35, 0xfb, 0, 0, 0, 0, 1, 0, 32]),
        Buffer.from(plain.etag),
        Buffer.from(
          `{"id":"${plain.id}","headers":{"contentType":"text/plain","metadata":{"colour":"grün"}},` +
            '"body":{"kind":"inline","crc":7},"checksum":{"algorithm":"SHA256","type":"COMPOSITE","value":"x"}}',
        ),
      ]),
    );
  });

  it('is of format 4 only where it has what a server of format 3 cannot read', () => {
    const order = '019aa7b135fb0003e70001a1b2c3d4e5';
    const own = { ...plain, versionId: '019aa7b135fb000000a1b2c3d4e5f607' };
    expect(encodeObject(own)[0]).toBe(3);
    for (const record of [
      { ...plain, versionId: 'AWS/1+~', order },
      { ...plain, order },
      { ...own, changes: { tags: { at: '1763750000123.000456', by: 'other' } } },
    ]) {
      const value = encodeObject(record);
      expect(value[0]).toBe(4);
      expect(decodeObject(value, 'bucket', 'key')).toEqual(record);
    }
    expect(encodeObject({ ...plain, versionId: 'AWS/1', order }).subarray(0, 70)).toEqual(
      Buffer.concat([
        Buffer.from([4, 0, 0b0100_0010, 0x01, 0x9a, 0xa7, 0xb1, 0x35, 0xfb, 0, 0, 0, 0, 1, 0, 32]),
        Buffer.from(plain.etag),
        Buffer.from(order, 'hex'),
        Buffer.from('\u0005AWS/1'),
      ]),
    );
  });

  it('is refused with bits that are reserved, also those that format 4 gave a meaning', () => {
    const order = '019aa7b135fb0003e70001a1b2c3d4e5';
    const value = encodeObject({ ...plain, versionId: 'AWS/1', order });
    const older = Buffer.from(value);
    older[0] = 3;
    const newer = Buffer.from(value);
    newer[2] = (newer[2] ?? 0) | 0b1000_0000;
    const further = Buffer.from(value);
    further[1] = 0b1000_0000;
    for (const record of [older, newer, further]) {
      expect(() => decodeObject(record, 'bucket', 'key')).toThrow('has a field that this server cannot read');
    }
  });

  it('is read where an older server wrote it, all JSON', () => {
    const old = encodeRecord(plain);
    expect(old[0]).toBe(1);
    expect(decodeObject(old, 'bucket', 'key')).toEqual(plain);
    expect({ ...decodeListed(old, 'bucket', 'key', new SealedEtags()) }).toEqual(listedPlain);
  });

  it('is read where a server of format 2 wrote it', () => {
    const checksum = { algorithm: 'SHA256', type: 'COMPOSITE', value: 'x' } as const;
    const old = Buffer.from(FORMAT_2, 'base64');
    expect(decodeObject(old, 'bucket', 'key')).toEqual({ ...plain, checksum });
    const { algorithm, type } = checksum;
    expect({ ...decodeListed(old, 'bucket', 'key', new SealedEtags()) }).toEqual({
      ...listedPlain,
      checksum: { algorithm, type },
    });
    expect(objectSize(old)).toBe(plain.size);
    const encrypted = Buffer.from(FORMAT_2_ENCRYPTED, 'base64');
    expect(decodeObject(encrypted, 'bucket', 'key')).toMatchObject({
      headers: { storageClass: 'GLACIER' },
      body: { kind: 'blob', salt: 'c2FsdA==', mac: 'bWFj' },
      sealed: { scheme: 'SSE-S3' },
    });
    expect(decodeListed(encrypted, 'bucket', 'key', new SealedEtags())).toMatchObject({
      encrypted: true,
      storageClass: 'GLACIER',
    });
  });

  it.each([0b0100_0000, 0b1010_0000])('is refused by name where it has the field %i of a newer server', (fields) => {
    const value = encodeObject(plain);
    value[2] = fields;
    const message = 'the record of object bucket/key has a field that this server cannot read: start the newer server';
    expect(() => decodeObject(value, 'bucket', 'key')).toThrow(message);
    expect(() => decodeListed(value, 'bucket', 'key', new SealedEtags())).toThrow(message);
  });

  it.each([
    { versionId: '0199aa000000aabbccddeeff00112233' },
    { versionId: '0199aa000000aabbccddeeff00112233', etag: Buffer.from('sealed') },
    { deleteMarker: true, body: { kind: 'none' } },
    { tags: { a: 'b' }, lock: { mode: 'COMPLIANCE', until: 5, legalHold: true } },
    { replication: { status: 'PENDING', waiting: ['a'], changed: 5 } },
  ] satisfies Partial<ObjectRecord>[])('keeps the fields of versions: %o', (fields) => {
    const record: ObjectRecord = { ...plain, ...fields };
    expect(decodeObject(encodeObject(record), 'bucket', 'key')).toEqual(record);
  });

  it('names a packed body so that servers that cannot read segments refuse it', () => {
    const blob = packedId({ segment: 'ff00112233445566' as SegmentId, offset: 8192, length: 200_000 });
    const record: ObjectRecord = { ...plain, body: { kind: 'blob', blob, crc: 5 } };
    const value = encodeObject(record);
    expect(value.toString('latin1')).toContain('"kind":"segment"');
    expect(decodeObject(value, 'bucket', 'key')).toEqual(record);
  });

  it.each<[string, ObjectRecord['body']]>([
    ['one blob', { kind: 'blob', blob: `fe${'0'.repeat(30)}` as BlobId, crc: 5 }],
    ['parts', { kind: 'parts', count: 2, crc: 5, tiered: true }],
  ])('has a place of its own in a tier, which older servers refuse: %s', (_, body) => {
    const restore = { kind: 'restored', id: '1'.repeat(32), until: 5 } as const;
    const record = { ...plain, headers: { ...plain.headers, storageClass: 'COLD' }, body, restore };
    const value = encodeObject(record);
    expect(value.toString('latin1')).toContain('"kind":"tier"');
    expect(decodeObject(value, 'bucket', 'key')).toEqual(record);
    expect(isTiered(record)).toBe(true);
  });

  it('is refused by name where its body is in a place of a newer server', () => {
    const body = { kind: 'tape', tape: 't' } as unknown as ObjectRecord['body'];
    expect(() => decodeObject(encodeObject({ ...plain, body }), 'bucket', 'key')).toThrow(
      'the body of object bucket/key is of kind "tape", which this server cannot read: start the newer server',
    );
  });

  it('is listed without its JSON being read', () => {
    const value = encodeObject(plain);
    value.fill(0, 16 + plain.etag.length);
    expect({ ...decodeListed(value, 'bucket', 'key', new SealedEtags()) }).toEqual(listedPlain);
    expect(() => decodeObject(value, 'bucket', 'key')).toThrow('the record of object bucket/key is damaged');
  });

  it('is refused where it ends inside its head', () => {
    const value = encodeObject(plain);
    for (const length of [1, 2, 3, 8, 15, 16, 47]) {
      expect(() => decodeListed(value.subarray(0, length), 'bucket', 'key', new SealedEtags())).toThrow(StoreError);
      expect(() => decodeObject(value.subarray(0, length), 'bucket', 'key')).toThrow(StoreError);
    }
  });

  it('is refused by name where a newer server wrote it', () => {
    const value = Buffer.from([5, 0, 0]);
    expect(() => decodeListed(value, 'bucket', 'key', new SealedEtags())).toThrow(
      'the record of object bucket/key has format 5, this server knows 4: start the newer server that wrote it',
    );
  });
});
