import { createHash, randomBytes } from 'node:crypto';
import { array, assert, asyncProperty, integer, nat, oneof } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashingPlaces, seatsAt, HashingRounds } from './hashing.ts';
import { BELL, HANDED, HASHED, controlWord, PIECE_BYTES, SEATS, seatsOf } from './layout.ts';
import { md5Lanes } from './md5-module.ts';
import { padding, type Seat } from './buffer-slots.ts';

/** Seats and the rounds that hash for them, on this thread. */
function room() {
  const [place] = hashingPlaces(1);
  if (place === undefined) throw new Error('one thread has one place');
  const rounds = new HashingRounds(place.memory.buffer, seatsOf(1), md5Lanes(place.memory));
  const hashAll = () => {
    while (rounds.next());
  };
  return { seats: seatsAt(place, () => undefined), words: new Int32Array(place.memory.buffer), rounds, hashAll };
}

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');

/** What a seat has left to take of a body. */
interface Upload {
  readonly seat: Seat;
  readonly bytes: Buffer;
  at: number;
}

/** Fills and hands over one piece. False where none is empty or nothing is left. */
function handOne(upload: Upload): boolean {
  const piece = upload.at < upload.bytes.length ? upload.seat.empty() : undefined;
  if (piece === undefined) return false;
  const filled = upload.bytes.copy(piece, 0, upload.at);
  upload.at += filled;
  upload.seat.hand(filled).release();
  return true;
}

describe('MD5 on the hashing thread', () => {
  const { seats, hashAll } = room();

  it.each([0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1])(
    'is that of OpenSSL for %i bytes',
    async (size) => {
      const seat = seats.take();
      if (seat === undefined) throw new Error('no seat is free');
      const bytes = randomBytes(size);
      const upload = { seat, bytes, at: 0 };
      while (handOne(upload));
      const digest = seat.digest();
      hashAll();
      expect((await digest).toString('hex')).toBe(md5(bytes));
      await seat.leave();
    },
  );

  it('is that of OpenSSL for any bodies at once, of any lengths, in any order', async () => {
    const lengths = oneof(integer({ min: 0, max: 300 }), integer({ min: 0, max: 4 * PIECE_BYTES }));
    await assert(
      asyncProperty(
        array(lengths, { minLength: 1, maxLength: SEATS }),
        array(nat(), { maxLength: 60 }),
        async (sizes, order) => {
          const uploads: Upload[] = sizes.map((size) => {
            const seat = seats.take();
            if (seat === undefined) throw new Error('no seat is free');
            return { seat, bytes: randomBytes(size), at: 0 };
          });
          for (const turn of order) {
            const upload = uploads[turn % uploads.length];
            if (upload === undefined || !handOne(upload)) hashAll();
          }
          const digests: Promise<Buffer>[] = [];
          for (const upload of uploads) {
            while (upload.at < upload.bytes.length) if (!handOne(upload)) hashAll();
            digests.push(upload.seat.digest());
          }
          hashAll();
          const expected = uploads.map(({ bytes }) => md5(bytes));
          expect((await Promise.all(digests)).map((digest) => digest.toString('hex'))).toEqual(expected);
          await Promise.all(uploads.map(({ seat }) => seat.leave()));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('goes on when its counters pass 2^31', async () => {
    const { seats: some, words, hashAll: hash } = room();
    const control = controlWord(0);
    words[control + HANDED] = 2 ** 31 - 2;
    words[control + HASHED] = 2 ** 31 - 2;
    words[BELL] = 2 ** 31 - 2;
    const seat = some.take();
    if (seat === undefined) throw new Error('no seat is free');
    const bytes = randomBytes(3 * PIECE_BYTES);
    const upload = { seat, bytes, at: 0 };
    while (upload.at < bytes.length) if (!handOne(upload)) hash();
    const digest = seat.digest();
    hash();
    expect((await digest).toString('hex')).toBe(md5(bytes));
  });

  it('says lengths of more than 2^32 bits and than 2^53 in its padding', () => {
    expect(padding(Buffer.alloc(0), 2 ** 29).subarray(-8)).toEqual(Buffer.from([0, 0, 0, 0, 1, 0, 0, 0]));
    expect(padding(Buffer.alloc(0), 2 ** 50).subarray(-8)).toEqual(Buffer.from([0, 0, 0, 0, 0, 0, 0x20, 0]));
  });
});

describe('the seats at a hashing thread', () => {
  it('are as many as the memory has room for, and are free again when they are left', async () => {
    const { seats, hashAll } = room();
    const taken = Array.from({ length: SEATS }, () => seats.take());
    expect(taken).not.toContain(undefined);
    expect(seats.take()).toBeUndefined();
    const left = taken[0]?.leave();
    hashAll();
    await left;
    expect(seats.take()).toBeDefined();
  });

  it('are left only when the hashing thread has done with a body that broke off', async () => {
    const { seats, hashAll } = room();
    const taken = Array.from({ length: SEATS }, () => seats.take());
    const broken = taken[0];
    broken?.empty();
    broken?.hand(PIECE_BYTES).release();
    const left = broken?.leave();
    await Promise.resolve();
    expect(seats.take()).toBeUndefined();
    hashAll();
    await left;
    expect(seats.take()).toBeDefined();
  });

  it('give no piece out again before it is hashed and stored', () => {
    const { seats, hashAll } = room();
    const seat = seats.take();
    const handed = [];
    while (seat?.empty() !== undefined) handed.push(seat.hand(PIECE_BYTES));
    hashAll();
    expect(seat?.empty()).toBeUndefined();
    handed[0]?.release();
    expect(seat?.empty()).toBeDefined();
  });

  it('are at different memories for every four HTTP threads', () => {
    const places = hashingPlaces(6);
    expect(places.map(({ part, threads }) => `${part} of ${threads}`)).toEqual(
      '0 of 4, 1 of 4, 2 of 4, 3 of 4, 0 of 2, 1 of 2'.split(', '),
    );
    expect(new Set(places.map(({ memory }) => memory)).size).toBe(2);
  });
});
