import { describe, expect, it } from 'vitest';
import { read, someBlobId } from '../../test/support/store/blob-store.conformance.ts';
import { blobMissing, type BlobStore } from '../store/blob-store.ts';
import { MemoryBlobStore } from '../store/memory/blob-store.ts';
import { StoreError } from '../store/store-error.ts';
import { ownChunks } from '../streams/chunks.ts';
import { BoundedReads } from './bounded-reads.ts';

const id = someBlobId();

/** A tier whose reads answer as `answer` says. */
function tierOf(answer: () => AsyncIterable<Buffer>, answerMs = 60_000) {
  const time = { now: 0 };
  const tier = { asked: 0 };
  const store: BlobStore = Object.assign(new MemoryBlobStore(), {
    read: () => {
      tier.asked += 1;
      return ownChunks(answer());
    },
  });
  const bounded = new BoundedReads(store, { what: 'the tier COLD', clock: () => time.now, answerMs });
  return { time, tier, read: () => read(bounded, id, 0, 2) };
}

function failing(reason: Error): AsyncIterable<Buffer> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(reason) }) };
}

function failure(kind: 'passing' | 'refused'): StoreError {
  return new StoreError('unreachable', 'no answer', { failure: { kind, code: 'code' } });
}

describe('a read of a tier', () => {
  it('ends where the tier is silent, and its next reads at once for some seconds', async () => {
    const { time, tier, read } = tierOf(
      () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }),
      1,
    );
    await expect(read()).rejects.toMatchObject({
      code: 'unreachable',
      message: `could not read blob ${id} in the tier COLD: it did not answer within 1 ms`,
    });
    await expect(read()).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/^the tier COLD is not asked .* it did not answer within 1 ms$/) as string,
    });
    expect(tier.asked).toBe(1);
    time.now += 5_000;
    await expect(read()).rejects.toThrow('did not answer');
    expect(tier.asked).toBe(2);
  });

  it.each([
    ['is not repeated where the tier was away', failure('passing'), 1],
    ['is repeated where the tier refused it', failure('refused'), 2],
    ['is repeated where the blob was missing', blobMissing(id), 2],
  ])('%s', async (_what, error, asked) => {
    const { tier, read } = tierOf(() => failing(error));
    await expect(read()).rejects.toBe(error);
    await expect(read()).rejects.toThrow(error.message);
    expect(tier.asked).toBe(asked);
  });

  it('is repeated where it broke off after its first bytes', async () => {
    const { tier, read } = tierOf(async function* () {
      yield Buffer.from('a');
      yield* failing(failure('passing'));
    });
    await expect(read()).rejects.toThrow('no answer');
    await expect(read()).rejects.toThrow('no answer');
    expect(tier.asked).toBe(2);
  });

  it('pauses no others where one body is slow, and others come meanwhile', async () => {
    const slow = Promise.withResolvers<never>();
    let isSlow = true;
    const { time, tier, read } = tierOf(() =>
      isSlow ? { [Symbol.asyncIterator]: () => ({ next: () => slow.promise }) } : bytes(),
    );
    const waiting = read();
    isSlow = false;
    time.now += 1;
    await read();
    slow.reject(failure('passing'));
    await expect(waiting).rejects.toThrow('no answer');
    expect(String(await read())).toBe('ab');
    expect(tier.asked).toBe(3);
  });

  it('goes on where the tier is back', async () => {
    let away = true;
    const { time, read } = tierOf(() => (away ? failing(failure('passing')) : bytes()));
    await expect(read()).rejects.toThrow('no answer');
    away = false;
    time.now += 5_000;
    expect(String(await read())).toBe('ab');
  });
});

async function* bytes(): AsyncGenerator<Buffer> {
  await Promise.resolve();
  yield Buffer.from('ab');
}
