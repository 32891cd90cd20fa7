import { createHash, randomBytes } from 'node:crypto';
import { array, assert, asyncProperty, integer, nat, oneof } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashingPlaces, bufferSlotsAt, HashingRounds } from './hashing.ts';
import { DOORBELL, SUBMITTED, HASHED, controlWord, BUFFER_BYTES, SLOTS, slotsOf } from './layout.ts';
import { md5Lanes } from './md5-module.ts';
import { padding, type BufferSlot } from './buffer-slots.ts';

/** BufferSlots and the rounds that hash for them, on this thread. */
function room() {
  const [place] = hashingPlaces(1);
  if (place === undefined) throw new Error('one thread has one place');
  const rounds = new HashingRounds(place.memory.buffer, slotsOf(1), md5Lanes(place.memory));
  const hashAll = () => {
    while (rounds.next());
  };
  return {
    bufferSlots: bufferSlotsAt(place, () => undefined),
    words: new Int32Array(place.memory.buffer),
    rounds,
    hashAll,
  };
}

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');

/** What a slot has left to take of a body. */
interface Upload {
  readonly slot: BufferSlot;
  readonly bytes: Buffer;
  at: number;
}

/** Fills and submits one buffer. Returns false where none is free or nothing is left. */
function submitOne(upload: Upload): boolean {
  const buffer = upload.at < upload.bytes.length ? upload.slot.nextBuffer() : undefined;
  if (buffer === undefined) return false;
  const filled = upload.bytes.copy(buffer, 0, upload.at);
  upload.at += filled;
  upload.slot.submit(filled).release();
  return true;
}

describe('MD5 on the hashing thread', () => {
  const { bufferSlots, hashAll } = room();

  it.each([0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, BUFFER_BYTES - 1, BUFFER_BYTES, BUFFER_BYTES + 1])(
    'is that of OpenSSL for %i bytes',
    async (size) => {
      const slot = bufferSlots.take();
      if (slot === undefined) throw new Error('no slot is free');
      const bytes = randomBytes(size);
      const upload = { slot, bytes, at: 0 };
      while (submitOne(upload));
      const digest = slot.digest();
      hashAll();
      expect((await digest).toString('hex')).toBe(md5(bytes));
      await slot.leave();
    },
  );

  it('is that of OpenSSL for any bodies at once, of any lengths, in any order', async () => {
    const lengths = oneof(integer({ min: 0, max: 300 }), integer({ min: 0, max: 4 * BUFFER_BYTES }));
    await assert(
      asyncProperty(
        array(lengths, { minLength: 1, maxLength: SLOTS }),
        array(nat(), { maxLength: 60 }),
        async (sizes, order) => {
          const uploads: Upload[] = sizes.map((size) => {
            const slot = bufferSlots.take();
            if (slot === undefined) throw new Error('no slot is free');
            return { slot, bytes: randomBytes(size), at: 0 };
          });
          for (const turn of order) {
            const upload = uploads[turn % uploads.length];
            if (upload === undefined || !submitOne(upload)) hashAll();
          }
          const digests: Promise<Buffer>[] = [];
          for (const upload of uploads) {
            while (upload.at < upload.bytes.length) if (!submitOne(upload)) hashAll();
            digests.push(upload.slot.digest());
          }
          hashAll();
          const expected = uploads.map(({ bytes }) => md5(bytes));
          expect((await Promise.all(digests)).map((digest) => digest.toString('hex'))).toEqual(expected);
          await Promise.all(uploads.map(({ slot }) => slot.leave()));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('goes on when its counters pass 2^31', async () => {
    const { bufferSlots: some, words, hashAll: hash } = room();
    const control = controlWord(0);
    words[control + SUBMITTED] = 2 ** 31 - 2;
    words[control + HASHED] = 2 ** 31 - 2;
    words[DOORBELL] = 2 ** 31 - 2;
    const slot = some.take();
    if (slot === undefined) throw new Error('no slot is free');
    const bytes = randomBytes(3 * BUFFER_BYTES);
    const upload = { slot, bytes, at: 0 };
    while (upload.at < bytes.length) if (!submitOne(upload)) hash();
    const digest = slot.digest();
    hash();
    expect((await digest).toString('hex')).toBe(md5(bytes));
  });

  it('says lengths of more than 2^32 bits and than 2^53 in its padding', () => {
    expect(padding(Buffer.alloc(0), 2 ** 29).subarray(-8)).toEqual(Buffer.from([0, 0, 0, 0, 1, 0, 0, 0]));
    expect(padding(Buffer.alloc(0), 2 ** 50).subarray(-8)).toEqual(Buffer.from([0, 0, 0, 0, 0, 0, 0x20, 0]));
  });
});

describe('the slots at a hashing thread', () => {
  it('are as many as the memory has room for, and are free again when they are left', async () => {
    const { bufferSlots, hashAll } = room();
    const taken = Array.from({ length: SLOTS }, () => bufferSlots.take());
    expect(taken).not.toContain(undefined);
    expect(bufferSlots.take()).toBeUndefined();
    const left = taken[0]?.leave();
    hashAll();
    await left;
    expect(bufferSlots.take()).toBeDefined();
  });

  it('are left only when the hashing thread has done with a body that broke off', async () => {
    const { bufferSlots, hashAll } = room();
    const taken = Array.from({ length: SLOTS }, () => bufferSlots.take());
    const broken = taken[0];
    broken?.nextBuffer();
    broken?.submit(BUFFER_BYTES).release();
    const left = broken?.leave();
    await Promise.resolve();
    expect(bufferSlots.take()).toBeUndefined();
    hashAll();
    await left;
    expect(bufferSlots.take()).toBeDefined();
  });

  it('give no buffer out again before it is hashed and stored', () => {
    const { bufferSlots, hashAll } = room();
    const slot = bufferSlots.take();
    const submitted = [];
    while (slot?.nextBuffer() !== undefined) submitted.push(slot.submit(BUFFER_BYTES));
    hashAll();
    expect(slot?.nextBuffer()).toBeUndefined();
    submitted[0]?.release();
    expect(slot?.nextBuffer()).toBeDefined();
  });

  it('are at different memories for every four HTTP threads', () => {
    const places = hashingPlaces(6);
    expect(places.map(({ part, threads }) => `${part} of ${threads}`)).toEqual(
      '0 of 4, 1 of 4, 2 of 4, 3 of 4, 0 of 2, 1 of 2'.split(', '),
    );
    expect(new Set(places.map(({ memory }) => memory)).size).toBe(2);
  });
});
