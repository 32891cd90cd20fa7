import { createHash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keptChunks } from '../../../server/streams/chunks.ts';
import { type BlobId, type BlobStore } from '../../../server/store/blob-store.ts';
import { fullForm, inFullForm } from '../full-form.ts';

/** Bytes of a blob that is read. Each engine reads some dozens of them. */
const readSize = inFullForm(2_500_000, 1_200_000);
const largeSize = inFullForm(12_000_000, 4_000_000);

interface BlobEngine {
  /** A store over nothing. */
  open(): Promise<BlobStore>;
  clean?(): Promise<void>;
  /** Bytes after which a blob that is being written takes room in the store, and must be listed; none by default. */
  readonly listedAfter?: number;
  /** True where the service removes what was never finished, and shows none of it. */
  readonly hidesUnfinished?: true;
}

/** What `blob-store.ts` says an implementer owes; durability is tried by each engine in its own way. */
export function describeBlobStore(name: string, engine: BlobEngine): void {
  describe(`blob store: ${name}`, () => {
    let store: BlobStore;
    let id: BlobId;

    beforeEach(async () => {
      store = await engine.open();
      id = someBlobId();
    });

    afterEach(() => engine.clean?.());

    describe('write', () => {
      it.each([0, 1, 65_536, 1_048_576, ...(fullForm ? [5_000_001, 12_000_000] : [3_000_001])])(
        'takes %i bytes and gives them back',
        async (size) => {
          const bytes = randomBytes(size);
          expect(await store.write(id, inPieces(bytes, 65_536))).toEqual({ size });
          expect((await read(store, id, 0, size)).equals(bytes)).toBe(true);
        },
      );

      it('takes pieces of any size, empty ones too', async () => {
        await store.write(id, from([Buffer.from('a'), Buffer.alloc(0), Buffer.from('bc')]));
        expect((await read(store, id, 0, 3)).toString()).toBe('abc');
      });

      it('takes thousands of single bytes', async () => {
        const bytes = randomBytes(5_000);
        await store.write(id, inPieces(bytes, 1));
        expect((await read(store, id, 0, 5_000)).equals(bytes)).toBe(true);
      });

      it('shows nothing of a blob before it has resolved', async () => {
        const gate = Promise.withResolvers<void>();
        const halfway = Promise.withResolvers<void>();
        const writing = store.write(
          id,
          (async function* () {
            yield Buffer.from('first');
            halfway.resolve();
            await gate.promise;
            yield Buffer.from('second');
          })(),
        );
        await halfway.promise;
        await expect(read(store, id, 0, 5)).rejects.toMatchObject({ code: 'blob-missing' });
        gate.resolve();
        await writing;
        expect((await read(store, id, 0, 11)).toString()).toBe('firstsecond');
      });

      it('leaves nothing readable and nothing listed when the body fails', async () => {
        const failing = (async function* () {
          yield randomBytes(2_000_000);
          // So much that some of it is in the store already.
          if (engine.listedAfter !== undefined) yield Buffer.alloc(engine.listedAfter);
          await Promise.resolve();
          throw new Error('the client went away');
        })();
        await expect(store.write(id, failing)).rejects.toThrow('the client went away');
        await expect(read(store, id, 0, 1)).rejects.toMatchObject({ code: 'blob-missing' });
        expect(await listed(store)).toEqual([]);
      });

      it('refuses an id that is there, and keeps its blob', async () => {
        await store.write(id, from([Buffer.from('first')]));
        await expect(store.write(id, from([Buffer.from('other')]))).rejects.toThrow(id);
        expect((await read(store, id, 0, 5)).toString()).toBe('first');
      });

      it('keeps many blobs written at once apart', async () => {
        const blobs = Array.from({ length: 30 }, () => ({ id: someBlobId(), bytes: randomBytes(100_000) }));
        await Promise.all(blobs.map((blob) => store.write(blob.id, inPieces(blob.bytes, 30_000))));
        for (const blob of blobs) expect((await read(store, blob.id, 0, 100_000)).equals(blob.bytes)).toBe(true);
      });
    });

    describe('write with `release`', () => {
      it.each([true, false])(
        'releases every chunk once, before its memory is reused, whole pages %s',
        async (pages) => {
          const bytes = randomBytes(2_500_000);
          const released: number[] = [];
          let count = 0;
          async function* borrowed() {
            for await (const chunk of inPieces(bytes, 262_144)) {
              count += 1;
              yield Buffer.from(chunk);
            }
          }
          const release = (chunk: Buffer) => {
            released.push(chunk.length);
            chunk.fill(0);
          };
          expect(await store.write(id, borrowed(), { release, pages })).toEqual({ size: bytes.length });
          expect((await read(store, id, 0, bytes.length)).equals(bytes)).toBe(true);
          expect(released).toHaveLength(count);
        },
      );
    });

    describe('read', () => {
      const bytes = randomBytes(readSize);

      beforeEach(() => store.write(id, inPieces(bytes, 70_000)).then(() => undefined));

      it.each([
        [0, 0],
        [0, 1],
        [readSize - 1, readSize],
        [1_048_575, 1_048_577],
        [100, readSize - 100_000],
        [readSize, readSize],
      ])('gives exactly the bytes from %i to %i', async (start, end) => {
        expect((await read(store, id, start, end)).equals(bytes.subarray(start, end))).toBe(true);
      });

      it('fails where the blob ends before the range', async () => {
        await expect(read(store, id, readSize - 100_000, readSize + 1)).rejects.toMatchObject({
          code: 'blob-truncated',
        });
      });

      it('fails for a blob that is not there', async () => {
        await expect(read(store, someBlobId(), 0, 1)).rejects.toMatchObject({ code: 'blob-missing' });
      });

      it('gives a range from the middle of a large blob', async () => {
        const large = randomBytes(largeSize);
        const other = someBlobId();
        await store.write(other, inPieces(large, 100_001));
        const [start, end] = [largeSize / 2 - 1, largeSize - 999_999];
        expect((await read(store, other, start, end)).equals(large.subarray(start, end))).toBe(true);
      });

      it('can be closed halfway', async () => {
        const chunks = store.read(id, { start: 0, end: bytes.length });
        await chunks.next();
        await chunks.close();
        expect(await chunks.next()).toBeUndefined();
      });

      it('keeps a piece as it is while others read', async () => {
        const chunks = store.read(id, { start: 0, end: bytes.length });
        const chunk = await chunks.next();
        const copy = Buffer.from(chunk ?? '');
        await Promise.all(
          Array.from({ length: inFullForm(20, 6) }, (_, n) => read(store, id, n * 100_000, bytes.length)),
        );
        const kept = chunk?.equals(copy);
        await chunks.close();
        expect(kept).toBe(true);
      });

      it('serves many readers of one blob', async () => {
        const sums = await Promise.all(
          Array.from({ length: inFullForm(20, 6) }, async () => sha256(await read(store, id, 0, bytes.length))),
        );
        expect(new Set(sums)).toEqual(new Set([sha256(bytes)]));
      });
    });

    describe('remove', () => {
      it('takes a blob away', async () => {
        await store.write(id, from([Buffer.from('x')]));
        await store.remove(id);
        await expect(read(store, id, 0, 1)).rejects.toMatchObject({ code: 'blob-missing' });
        expect(await listed(store)).toEqual([]);
      });

      it('may be repeated', async () => {
        await store.remove(id);
        await expect(store.remove(id)).resolves.toBeUndefined();
      });
    });

    describe('list', () => {
      it('shows every blob with its size and an age', async () => {
        const ids = [someBlobId(), someBlobId(), someBlobId()].toSorted();
        for (const one of ids) await store.write(one, from([Buffer.alloc(7)]));
        const blobs = await Array.fromAsync(store.list());
        expect(blobs.map((blob) => blob.id).toSorted()).toEqual(ids);
        expect(blobs.every((blob) => blob.size === 7 && blob.ageMs > -1000 && blob.ageMs < 60_000)).toBe(true);
      });

      it('shows a blob that is being written, and `remove` takes it away', async () => {
        const gate = Promise.withResolvers<void>();
        const halfway = Promise.withResolvers<void>();
        const writing = store.write(
          id,
          (async function* () {
            if (engine.listedAfter !== undefined) yield Buffer.alloc(engine.listedAfter);
            halfway.resolve();
            await gate.promise;
            yield Buffer.from('x');
          })(),
        );
        await halfway.promise;
        expect(await listed(store)).toEqual(engine.hidesUnfinished === true ? [] : [id]);
        gate.reject(new Error('given up'));
        await expect(writing).rejects.toThrow('given up');
        await store.remove(id);
        expect(await listed(store)).toEqual([]);
      });
    });
  });
}

export async function* inPieces(bytes: Buffer, size: number): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) {
    await Promise.resolve();
    yield bytes.subarray(at, at + size);
  }
}

export async function* from(chunks: readonly Buffer[]): AsyncIterable<Buffer> {
  for (const chunk of chunks) {
    await Promise.resolve();
    yield chunk;
  }
}

/** Reads a range, and copies each chunk before it asks for the next. */
export async function read(store: BlobStore, id: BlobId, start: number, end: number): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(keptChunks(store.read(id, { start, end }))));
}

export async function listed(store: BlobStore): Promise<BlobId[]> {
  return (await Array.fromAsync(store.list())).map((blob) => blob.id);
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function someBlobId(): BlobId {
  // Ids that begin with ff are places of packed bodies.
  return `01${randomBytes(15).toString('hex')}` as BlobId;
}
