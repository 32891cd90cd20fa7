import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DigestSeal } from '../../encryption/digest-seal.ts';
import { checksumSizes } from '../../../protocol/s3/checksum-algorithms.ts';
import type { Checksum } from '../contract/object-layer.ts';
import {
  md5InRecord,
  openChecksum,
  openEtag,
  sealChecksum,
  sealEtag,
  type SealedChecksum,
  sealingKeyOf,
} from './stored-digests.ts';

const seal = new DigestSeal(createHash('sha256').update('a key').digest());
const owner = { id: '018f00000000aaaaaaaaaaaaaaaaaaaa', part: 0 };
const md5 = createHash('md5').update('1234').digest('hex');

describe('a sealed ETag', () => {
  it.each([md5, `${md5}-1`, `${md5}-10000`, md5.toUpperCase(), `${md5}-01`, `${md5}-70000`, 'no MD5', `${md5}-1-2`])(
    'is %s again',
    (etag) => {
      const sealed = sealEtag(seal, owner, etag);
      expect(openEtag(seal, owner, sealed)).toBe(etag);
      expect(sealed.includes(Buffer.from(md5, 'hex'))).toBe(false);
      expect(sealed.includes(etag)).toBe(false);
    },
  );

  it('has 33 bytes where it is an MD5, and is found to be one', () => {
    const sealed = sealEtag(seal, owner, md5);
    expect(sealed.length).toBe(33);
    expect(md5InRecord(sealed, 0, 33)).toBe(16);
    expect(md5InRecord(sealEtag(seal, owner, `${md5}-2`), 0, 35)).toBe(18);
    expect(md5InRecord(sealEtag(seal, owner, md5.toUpperCase()), 0, 33)).toBe(0);
  });

  it('is not taken for the ETag of a part', () => {
    expect(() => openEtag(seal, { ...owner, part: 1 }, sealEtag(seal, owner, md5))).toThrow('not authentic');
  });

  it('is refused in a form that is not known', () => {
    const sealed = sealEtag(seal, owner, md5);
    for (const first of [0, 3, 0x21, 0x12, 0xff]) {
      expect(() => openEtag(seal, owner, Buffer.concat([Buffer.of(first), sealed.subarray(1)]))).toThrow(
        'not authentic',
      );
    }
  });
});

describe('a sealed checksum', () => {
  const checksums = Object.entries(checksumSizes).flatMap(([algorithm, size]) => {
    const value = createHash('sha512').update(algorithm).digest().subarray(0, size).toString('base64');
    return [
      { algorithm, type: 'FULL_OBJECT', value },
      { algorithm, type: 'COMPOSITE', value: `${value}-3` },
      { algorithm, type: 'FULL_OBJECT', value: 'something else' },
    ] as Checksum[];
  });

  it.each(checksums)('is $algorithm of $type again', (checksum) => {
    for (const under of ['bucket', 'object'] as const) {
      const sealed = sealChecksum(seal, under, owner, checksum);
      expect(openChecksum(seal, owner, sealed)).toEqual(checksum);
      expect(sealingKeyOf(Buffer.from(sealed.sealed, 'base64'))).toBe(under);
      expect(JSON.stringify(sealed)).not.toContain(checksum.value);
    }
  });

  it('does not open as that of another algorithm or type', () => {
    const sealed = sealChecksum(seal, 'bucket', owner, {
      algorithm: 'CRC32',
      type: 'FULL_OBJECT',
      value: Buffer.from('abcd').toString('base64'),
    });
    const others: SealedChecksum[] = [
      { ...sealed, algorithm: 'CRC32C' },
      { ...sealed, type: 'COMPOSITE' },
    ];
    for (const other of others) expect(() => openChecksum(seal, owner, other)).toThrow('not authentic');
  });
});
