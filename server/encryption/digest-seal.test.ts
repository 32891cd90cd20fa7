import { createHash, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestKeys, digestSealOfObject } from './digest-keys.ts';
import { DigestPage, DigestSeal, SEAL_SIZE } from './digest-seal.ts';

const id = '018f00000000aaaaaaaaaaaaaaaaaaaa';
const place = { id, field: 1, part: 0 };
const key = createHash('sha256').update('a key').digest();

describe('DigestSeal', () => {
  it('opens what it sealed, of any length', () => {
    const seal = new DigestSeal(key);
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 240 }),
        fc.integer({ min: 0, max: 10_000 }),
        (digest, part) => {
          const sealed = seal.seal({ ...place, part }, Buffer.from(digest));
          expect(sealed.length).toBe(SEAL_SIZE + digest.length);
          expect(seal.open({ ...place, part }, sealed)).toEqual(Buffer.from(digest));
        },
      ),
    );
  });

  it('writes the same bytes for ever', () => {
    const sealed = new DigestSeal(key).seal(place, Buffer.from('00112233445566778899aabbccddeeff', 'hex'));
    expect(sealed.toString('hex')).toBe('f764da5671bfe9c3a7851fde9f21e5e97ef6334937a558c25c588aedb416ce4e');
  });

  it('does not open a digest of which a bit was changed', () => {
    const seal = new DigestSeal(key);
    const sealed = seal.seal(place, randomBytes(20));
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(seal.open(place, changed)).toBeUndefined();
    }
  });

  it.each([
    ['another object', { ...place, id: id.replaceAll('a', 'b') }],
    ['another field', { ...place, field: 2 }],
    ['another part', { ...place, part: 1 }],
    ['a part whose number has the same low byte', { ...place, part: 256 }],
    ['a name that is no id', { ...place, id: 'short' }],
  ])('does not open it for %s', (_, other) => {
    const seal = new DigestSeal(key);
    expect(seal.open(other, seal.seal(place, randomBytes(16)))).toBeUndefined();
  });

  it('does not open one that was cut, or made longer', () => {
    const seal = new DigestSeal(key);
    const sealed = seal.seal(place, randomBytes(32));
    for (let length = 0; length < sealed.length; length += 1) {
      expect(seal.open(place, sealed.subarray(0, length))).toBeUndefined();
    }
    expect(seal.open(place, Buffer.concat([sealed, Buffer.alloc(1)]))).toBeUndefined();
  });

  it('shows nothing of two digests that are equal', () => {
    const seal = new DigestSeal(key);
    const digest = randomBytes(16);
    const other = seal.seal({ ...place, id: id.replaceAll('a', 'b') }, digest);
    expect(other.equals(seal.seal(place, digest))).toBe(false);
    expect(other.includes(digest.subarray(0, 4))).toBe(false);
  });
});

describe('DigestPage', () => {
  const ids = Array.from({ length: 5 }, (_, at) => `018f0000000${at}aaaaaaaaaaaaaaaaaaaa`);

  function page(seal: DigestSeal, digests: readonly Buffer[]): DigestPage {
    const filled = new DigestPage(digests.length, digests[0]?.length ?? 0);
    for (const [at, digest] of digests.entries()) {
      const record = Buffer.concat([
        Buffer.from(`..${ids[at]}...`),
        seal.seal({ ...place, id: ids[at] ?? '' }, digest),
      ]);
      filled.placeAt(at, record, 2, place.field);
      filled.takeSealed(at, record, 2 + 32 + 3);
    }
    return filled;
  }

  it.each([4, 16, 20, 32])('opens digests of %i bytes together', (length) => {
    const seal = new DigestSeal(key);
    const digests = ids.map(() => randomBytes(length));
    const filled = page(seal, digests);
    expect(seal.openPage(filled)).toEqual(ids.map(() => true));
    expect(filled.digests[0]?.subarray(16, 16 + Math.min(16, length))).toEqual(digests[1]?.subarray(0, 16));
  });

  it('tells the one that was changed', () => {
    const seal = new DigestSeal(key);
    const filled = page(
      seal,
      ids.map(() => randomBytes(16)),
    );
    filled.tags[3 * 16] = (filled.tags[3 * 16] ?? 0) ^ 1;
    expect(seal.openPage(filled)).toEqual([true, true, true, false, true]);
  });
});

describe('digestKeys', () => {
  it('gives each bucket a key of its own', async () => {
    const keys = digestKeys(() => key);
    const [one, other] = [await keys.ofBucket('one'), await keys.ofBucket('other')];
    const sealed = one?.seal(place, randomBytes(16)) ?? Buffer.alloc(0);
    expect(one?.open(place, sealed)).toBeDefined();
    expect(other?.open(place, sealed)).toBeUndefined();
  });

  it('has none while the backend has none, and asks again', async () => {
    let backend: Buffer | undefined;
    const keys = digestKeys(() => Promise.resolve(backend));
    expect(await keys.ofBucket('one')).toBeUndefined();
    backend = key;
    expect(await keys.ofBucket('one')).toBeDefined();
    expect(keys.ofBucket('one')).toBeInstanceOf(DigestSeal);
  });

  it('gives each object of a client a key of its own', () => {
    const sealed = digestSealOfObject(key, id).seal(place, randomBytes(4));
    expect(digestSealOfObject(key, id).open(place, sealed)).toBeDefined();
    expect(digestSealOfObject(key, id.replaceAll('a', 'b')).open(place, sealed)).toBeUndefined();
  });
});
