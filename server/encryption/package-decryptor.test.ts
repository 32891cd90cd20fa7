import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Chunks } from '../streams/chunks.ts';
import { DecryptedChunks } from './package-decryptor.ts';
import { cipherRange, PACKAGE_SIZE, packageCuts, TAG_SIZE } from './package-format.ts';
import { encryptBuffer, SALT_SIZE, streamKey } from './packages.ts';

const damagedCiphertext = expect.objectContaining({ code: 'ciphertext-damaged' }) as Error;

const key = streamKey(randomBytes(32), randomBytes(SALT_SIZE));
const source = randomBytes(4 * PACKAGE_SIZE);
const total = 2 * PACKAGE_SIZE + 100;
const sealed = encryptBuffer(source.subarray(0, total), key);

/** Lends copies of the bytes in pieces of so many, all in one buffer, as a store does. */
function lent(bytes: Buffer, length: number) {
  const buffer = Buffer.alloc(length);
  let at = 0;
  const chunks: Chunks<'lent'> = {
    ownership: 'lent',
    next() {
      const copied = bytes.copy(buffer.fill(0xdd), 0, at, at + length);
      at += copied;
      return Promise.resolve(copied === 0 ? undefined : buffer.subarray(0, copied));
    },
    close: () => Promise.resolve(),
  };
  return { pieces: chunks, buffer };
}

/** What a reader gets until the end or a failure; each piece is copied before the next is asked for. */
async function read(ciphertext: Buffer, size: number, start = 0, end = size, length = 50_000) {
  const range = cipherRange(start, end, size);
  const { pieces: chunks, buffer } = lent(ciphertext.subarray(range.start, range.end), length);
  const plaintext = new DecryptedChunks(chunks, { ...range, key, size });
  const given: { readonly copy: Buffer; readonly inPlace: boolean }[] = [];
  let failure: unknown;
  try {
    for (let chunk = await plaintext.next(); chunk !== undefined; chunk = await plaintext.next()) {
      given.push({ copy: Buffer.from(chunk), inPlace: chunk.buffer === buffer.buffer });
    }
  } catch (error) {
    failure = error;
  }
  return { bytes: Buffer.concat(given.map(({ copy }) => copy)), given, failure };
}

describe('plaintext in the place of its ciphertext', () => {
  it('is any range of any body, whatever the borrowed chunks of the ciphertext', async () => {
    const size = fc.oneof(fc.constantFrom(0, 1, PACKAGE_SIZE, PACKAGE_SIZE + 1), fc.nat(source.length));
    const length = fc.oneof(
      fc.constantFrom(1 + packageCuts.every, packageCuts.every),
      fc.integer({ min: 700, max: 200_000 }),
    );
    await fc.assert(
      fc.asyncProperty(size, fc.nat(), fc.nat(), length, async (bytes, a, b, chunk) => {
        const [start, end] = [a % (bytes + 1), b % (bytes + 1)].sort((x, y) => x - y) as [number, number];
        const plaintext = await read(encryptBuffer(source.subarray(0, bytes), key), bytes, start, end, chunk);
        expect(plaintext.failure).toBeUndefined();
        expect(plaintext.bytes.equals(source.subarray(start, end))).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('takes no other memory where pieces end with packages', async () => {
    const { given } = await read(sealed, total, 0, total, packageCuts.from + 2 * packageCuts.every);
    expect(given.map(({ copy, inPlace }) => [copy.length, inPlace])).toEqual([
      [2 * PACKAGE_SIZE, true],
      [100, true],
    ]);
  });

  it('shows a flipped bit anywhere, and gives nothing of that package or after it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(sealed.length - 1),
        fc.nat(7),
        fc.integer({ min: 5_000, max: 150_000 }),
        async (at, bit, length) => {
          const damaged = Buffer.from(sealed);
          damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
          const { failure, bytes } = await read(damaged, total, 0, total, length);
          expect(failure).toMatchObject({ code: 'ciphertext-damaged' });
          expect(bytes.length).toBeLessThanOrEqual(at);
          expect(bytes.equals(source.subarray(0, bytes.length))).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('shows a cut anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(sealed.length - 1), async (length) => {
        const { failure, bytes } = await read(sealed.subarray(0, length), total);
        expect(failure).toMatchObject({ code: 'ciphertext-damaged' });
        expect(bytes.equals(source.subarray(0, bytes.length))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('shows two packages that changed places', async () => {
    const length = PACKAGE_SIZE + TAG_SIZE;
    const [first, second] = [sealed.subarray(1, 1 + length), sealed.subarray(1 + length, 1 + 2 * length)];
    const swapped = Buffer.concat([sealed.subarray(0, 1), second, first, sealed.subarray(1 + 2 * length)]);
    const { failure, bytes } = await read(swapped, total);
    expect(failure).toMatchObject({ code: 'ciphertext-damaged' });
    expect(bytes).toHaveLength(0);
  });

  it('shows bytes after the end', async () => {
    const range = { ...cipherRange(0, total, total), key, size: total };
    const { pieces: chunks } = lent(Buffer.concat([sealed, Buffer.alloc(1)]), 50_000);
    const plaintext = new DecryptedChunks(chunks, range);
    const all = async () => {
      while ((await plaintext.next()) !== undefined);
    };
    await expect(all()).rejects.toThrow(damagedCiphertext);
  });
});
