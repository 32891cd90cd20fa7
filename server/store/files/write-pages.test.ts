import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PAGE, PageBuffers, writePages } from './write-pages.ts';

/** A file in memory, which checks that each write could be a direct one. */
class PagesFile {
  bytes = Buffer.alloc(0);
  writes = 0;
  failAt = Infinity;

  async writeAt(bytes: Buffer, position: number): Promise<void> {
    expect([bytes.byteOffset % PAGE, bytes.length % PAGE, position % PAGE]).toEqual([0, 0, 0]);
    this.writes += 1;
    const { writes } = this;
    // The buffer belongs to this write until it ends.
    await new Promise((resolve) => setImmediate(resolve));
    if (writes >= this.failAt) throw new Error('the disk failed');
    const grown = Buffer.alloc(Math.max(this.bytes.length, position + bytes.length));
    this.bytes.copy(grown);
    bytes.copy(grown, position);
    this.bytes = grown;
  }
}

async function* bodyOf(chunks: readonly Buffer[], then?: () => Promise<unknown>): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    await Promise.resolve();
    yield chunk;
  }
  await then?.();
}

function cut(body: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, next = 0; at < body.length; next += 1) {
    const size = sizes[next % sizes.length] ?? 1;
    chunks.push(body.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

/** Writes chunks. Each of them must be released once. */
async function write(file: PagesFile, chunks: readonly Buffer[], buffers: PageBuffers, then?: () => Promise<unknown>) {
  const released: Buffer[] = [];
  const given: Buffer[] = [];
  async function* body() {
    for await (const chunk of bodyOf(chunks, then)) {
      given.push(chunk);
      yield chunk;
    }
  }
  try {
    return await writePages(file, body(), (chunk) => released.push(chunk), buffers);
  } finally {
    expect(released.map((chunk) => chunk.byteOffset)).toEqual(given.map((chunk) => chunk.byteOffset));
  }
}

describe('writePages', () => {
  it('writes whole pages of a body, and zeros after its end', async () => {
    const buffers = new PageBuffers();
    const sizes = fc.array(fc.oneof(fc.nat({ max: 9 }), fc.integer({ min: 1, max: 300_000 })), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 700_000 }), sizes, async (length, cuts) => {
        const body = randomBytes(length);
        const file = new PagesFile();
        const chunks = cut(
          body,
          [...cuts, 65_536].map((size) => (length > 20_000 ? Math.max(size, 500) : size)),
        );
        expect(await write(file, chunks, buffers)).toBe(length);
        expect(file.bytes.length).toBe(Math.ceil(length / PAGE) * PAGE);
        expect(file.bytes.subarray(0, length).equals(body)).toBe(true);
        expect(file.bytes.subarray(length).every((byte) => byte === 0)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('joins the chunks of a client that sends single bytes', async () => {
    const body = randomBytes(266_000);
    const file = new PagesFile();
    await write(file, cut(body, [1]), new PageBuffers());
    expect(file.bytes.subarray(0, body.length).equals(body)).toBe(true);
    expect(file.writes).toBe(2);
  });

  it('fails with the error of the disk, and then serves other bodies', async () => {
    const buffers = new PageBuffers();
    const chunks = cut(randomBytes(3_000_000), [65_536]);
    for (let round = 0; round < 10; round += 1) {
      const file = new PagesFile();
      file.failAt = 2;
      await expect(write(file, chunks, buffers)).rejects.toThrow('the disk failed');
    }
    expect(await write(new PagesFile(), chunks, buffers)).toBe(3_000_000);
  });

  it('fails with the error of the body after its writes have ended', async () => {
    const file = new PagesFile();
    const failing = write(file, cut(randomBytes(600_000), [65_536]), new PageBuffers(), () =>
      Promise.reject(new Error('the client went away')),
    );
    await expect(failing).rejects.toThrow('the client went away');
    expect(file.bytes.length).toBe(2 * 262_144);
  });

  it('holds no buffer for a slow body', async () => {
    const buffers = new PageBuffers();
    const slow = Promise.withResolvers<undefined>();
    const begun = randomBytes(200_000);
    const bodies = Array.from({ length: 50 }, () =>
      write(new PagesFile(), cut(begun, [65_536]), buffers, () => slow.promise),
    );
    expect(await write(new PagesFile(), cut(begun, [65_536]), buffers)).toBe(200_000);
    slow.resolve(undefined);
    expect(await Promise.all(bodies)).toEqual(bodies.map(() => 200_000));
  });
});
