import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cipherRange, cipherSize, PACKAGE_SIZE, TAG_SIZE } from './package-format.ts';
import { decryptBuffer, decryptStream, encryptBuffer, encryptStream, SALT_SIZE, streamKey } from './packages.ts';

const damagedCiphertext = expect.objectContaining({ code: 'ciphertext-damaged' }) as Error;

const key = streamKey(randomBytes(32), randomBytes(SALT_SIZE));
const source = randomBytes(4 * PACKAGE_SIZE);

/** Sizes around what matters: nothing, package boundaries, several packages. */
const size = fc.oneof(
  fc.constantFrom(0, 1, PACKAGE_SIZE - 1, PACKAGE_SIZE, PACKAGE_SIZE + 1, 2 * PACKAGE_SIZE, 3 * PACKAGE_SIZE),
  fc.nat(source.length),
);

async function* inChunks(bytes: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks));
}

/** Decrypts bytes `start` to `end` as a reader of ranges does. */
function decryptRange(ciphertext: Buffer, total: number, start: number, end: number, chunk = 50_000): Promise<Buffer> {
  const range = cipherRange(start, end, total);
  const chosen = inChunks(ciphertext.subarray(range.start, range.end), chunk);
  return collect(decryptStream(chosen, { ...range, key, size: total }));
}

describe('packages', () => {
  it('are the same for a body whose size only its end tells', async () => {
    const chunk = fc.integer({ min: 1, max: 100_000 });
    await fc.assert(
      fc.asyncProperty(size, chunk, async (length, cut) => {
        const bytes = source.subarray(0, length);
        const unsized = await collect(encryptStream(inChunks(bytes, cut), key, undefined));
        expect(unsized.equals(encryptBuffer(bytes, key))).toBe(true);
      }),
    );
  });

  it('give back bodies of any size, whatever the chunks on the way', async () => {
    await fc.assert(
      fc.asyncProperty(size, fc.integer({ min: 1000, max: 200_000 }), async (total, chunk) => {
        const plaintext = source.subarray(0, total);
        const ciphertext = await collect(encryptStream(inChunks(plaintext, chunk), key, total));
        expect(ciphertext.length).toBe(cipherSize(total));
        expect((await decryptRange(ciphertext, total, 0, total, chunk)).equals(plaintext)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('give back any range from the packages that hold it alone', async () => {
    const ciphertexts = new Map<number, Buffer>();
    await fc.assert(
      fc.asyncProperty(size, fc.nat(), fc.nat(), async (total, a, b) => {
        const ciphertext = ciphertexts.get(total) ?? encryptBuffer(source.subarray(0, total), key);
        ciphertexts.set(total, ciphertext);
        const [start, end] = [a % (total + 1), b % (total + 1)].sort((x, y) => x - y) as [number, number];
        const plaintext = await decryptRange(ciphertext, total, start, end);
        expect(plaintext.equals(source.subarray(start, end))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('are the same from memory as from a stream', async () => {
    const plaintext = source.subarray(0, 150_000);
    const ciphertext = encryptBuffer(plaintext, key);
    expect((await decryptRange(ciphertext, plaintext.length, 0, plaintext.length)).equals(plaintext)).toBe(true);
    const range = cipherRange(70_000, 140_000, plaintext.length);
    const part = decryptBuffer(ciphertext.subarray(range.start, range.end), { ...range, key, size: plaintext.length });
    expect(part.equals(plaintext.subarray(70_000, 140_000))).toBe(true);
  });

  it('show a flipped bit anywhere', async () => {
    const total = 2 * PACKAGE_SIZE + 100;
    const ciphertext = encryptBuffer(source.subarray(0, total), key);
    await fc.assert(
      fc.asyncProperty(fc.nat(ciphertext.length - 1), fc.nat(7), async (at, bit) => {
        const damaged = Buffer.from(ciphertext);
        damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
        await expect(decryptRange(damaged, total, 0, total)).rejects.toThrow(damagedCiphertext);
      }),
      { numRuns: 50 },
    );
  });

  it('show a cut anywhere, and never give bytes that were not verified', async () => {
    const total = 2 * PACKAGE_SIZE + 100;
    const ciphertext = encryptBuffer(source.subarray(0, total), key);
    await fc.assert(
      fc.asyncProperty(fc.nat(ciphertext.length - 1), async (length) => {
        const given: Buffer[] = [];
        const read = async () => {
          const range = cipherRange(0, total, total);
          const cut = inChunks(ciphertext.subarray(0, length), 9999);
          for await (const chunk of decryptStream(cut, { ...range, key, size: total })) given.push(chunk);
        };
        await expect(read()).rejects.toThrow(damagedCiphertext);
        const bytes = Buffer.concat(given);
        expect(bytes.equals(source.subarray(0, bytes.length))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('show bytes after the end', async () => {
    const ciphertext = Buffer.concat([encryptBuffer(source.subarray(0, 100), key), Buffer.alloc(1)]);
    const read = collect(decryptStream(inChunks(ciphertext, 50), { ...cipherRange(0, 100, 100), key, size: 100 }));
    await expect(read).rejects.toThrow(damagedCiphertext);
  });

  it('show two packages that changed places', async () => {
    const total = 3 * PACKAGE_SIZE;
    const ciphertext = encryptBuffer(source.subarray(0, total), key);
    const length = PACKAGE_SIZE + TAG_SIZE;
    const [first, second] = [ciphertext.subarray(1, 1 + length), ciphertext.subarray(1 + length, 1 + 2 * length)];
    const swapped = Buffer.concat([ciphertext.subarray(0, 1), second, first, ciphertext.subarray(1 + 2 * length)]);
    await expect(decryptRange(swapped, total, 0, total)).rejects.toThrow(damagedCiphertext);
  });

  it('show a body that was cut at a package and given out as a shorter one', async () => {
    const ciphertext = encryptBuffer(source.subarray(0, 2 * PACKAGE_SIZE), key);
    const cut = ciphertext.subarray(0, cipherSize(PACKAGE_SIZE));
    await expect(decryptRange(cut, PACKAGE_SIZE, 0, PACKAGE_SIZE)).rejects.toThrow(damagedCiphertext);
  });

  it('show a package of another stream of the same object', async () => {
    const objectKey = randomBytes(32);
    const [one, two] = [streamKey(objectKey, randomBytes(SALT_SIZE)), streamKey(objectKey, randomBytes(SALT_SIZE))];
    const ciphertext = encryptBuffer(source.subarray(0, 100), one);
    const range = cipherRange(0, 100, 100);
    expect(() => decryptBuffer(ciphertext, { ...range, key: two, size: 100 })).toThrow(damagedCiphertext);
  });

  it('of an empty body show its absence', () => {
    const range = cipherRange(0, 0, 0);
    expect(decryptBuffer(encryptBuffer(Buffer.alloc(0), key), { ...range, key, size: 0 })).toHaveLength(0);
    expect(() => decryptBuffer(Buffer.of(1), { ...range, key, size: 0 })).toThrow(damagedCiphertext);
  });

  it('refuse a body of another length than was said', async () => {
    for (const said of [99, 101]) {
      const encrypted = collect(encryptStream(inChunks(source.subarray(0, 100), 30), key, said));
      await expect(encrypted).rejects.toThrow(RangeError);
    }
  });
});

describe('cipherRange', () => {
  it('reads one package for one byte', () => {
    expect(cipherRange(PACKAGE_SIZE, PACKAGE_SIZE + 1, 10 * PACKAGE_SIZE)).toEqual({
      start: 1 + PACKAGE_SIZE + TAG_SIZE,
      end: 1 + 2 * (PACKAGE_SIZE + TAG_SIZE),
      firstPackage: 1,
      skip: 0,
      length: 1,
    });
  });

  it('refuses a range that is none', () => {
    for (const [start, end] of [
      [-1, 0],
      [2, 1],
      [0, 11],
      [Number.NaN, 1],
    ] as const) {
      expect(() => cipherRange(start, end, 10)).toThrow(RangeError);
    }
  });
});
