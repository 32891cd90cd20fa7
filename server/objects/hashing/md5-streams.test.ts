import { createHash, randomBytes } from 'node:crypto';
import { array, assert, integer, nat, oneof, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_CHUNKS, MAX_KEPT, MAX_WAITING, type Md5Stream, Md5Streams } from './md5-streams.ts';

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');
const KIB = 1024;

/** Returns streams after the given number of them have been opened, without bytes. The third and later ones use lanes. */
function besideOthers(count: number): Md5Streams {
  const streams = new Md5Streams();
  for (let other = 0; other < count; other += 1) streams.start();
  return streams;
}

/** Opens streams and adds a chunk to each. Returns the streams with functions that release the chunks, and the indices of the chunks that are done. */
function waitingStreams(streams: Md5Streams, count: number, size: number) {
  const done = new Set<number>();
  const bodies = Array.from({ length: count }, (_, body) => {
    const bytes = randomBytes(size);
    const expected = md5(bytes);
    const stream = streams.start();
    stream.update(bytes);
    const release = () => stream.release(bytes, () => done.add(body));
    return { stream, expected, release };
  });
  return { bodies, done };
}

const digestOf = (stream: Md5Stream) => stream.digest().toString('hex');

describe('the MD5 of streams at once', () => {
  it.each([0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 16_383, 16_384, 16_385, 200_007])(
    'is that of OpenSSL for %i bytes, alone and in a lane',
    (size) => {
      const bytes = randomBytes(size);
      for (const others of [0, 2]) {
        const stream = besideOthers(others).start();
        stream.update(bytes);
        expect(digestOf(stream)).toBe(md5(bytes));
      }
    },
  );

  it('is that of OpenSSL for bodies of any lengths in chunks of any size, in any order, some of which break off', () => {
    const lengths = oneof(integer({ min: 0, max: 300 }), integer({ min: 0, max: 400 * KIB }));
    const chunkSizes = oneof(integer({ min: 1, max: 200 }), integer({ min: 1, max: 80 * KIB }));
    assert(
      property(
        array(lengths, { minLength: 1, maxLength: 12 }),
        array(chunkSizes, { minLength: 1 }),
        nat(),
        (sizes, parts, skip) => {
          const streams = besideOthers(2);
          const bodies = sizes.map((size) => ({
            bytes: randomBytes(size),
            at: 0,
            stream: streams.start(),
            held: [] as Buffer[],
          }));
          let turn = 0;
          for (let open = bodies; open.length > 0; turn += 1) {
            const body = open[(turn * ((skip % 7) + 1)) % open.length];
            if (body === undefined) break;
            const chunk = Buffer.from(body.bytes.subarray(body.at, body.at + (parts[turn % parts.length] ?? 1)));
            body.stream.update(chunk);
            body.held.push(chunk);
            body.at += chunk.length;
            const brokenOff = turn % 31 === 30;
            const ended = body.at === body.bytes.length;
            if (turn % 3 === 0 || ended) {
              for (const held of body.held.splice(0)) body.stream.release(held, () => held.fill(0));
            }
            if (brokenOff) body.stream.close();
            else if (!ended) continue;
            else expect(digestOf(body.stream)).toBe(md5(body.bytes));
            open = open.filter((other) => other !== body);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('hashes a stream together with three others, whose chunks are done by that', () => {
    const { bodies, done } = waitingStreams(besideOthers(2), 4, 128 * KIB);
    for (const { release } of bodies) release();
    expect(done).toEqual(new Set());
    const [first] = bodies;
    expect(first && digestOf(first.stream)).toBe(first?.expected);
    expect(done).toEqual(new Set([0, 1, 2, 3]));
    for (const { stream, expected } of bodies.slice(1)) expect(digestOf(stream)).toBe(expected);
  });

  it('is that of OpenSSL for bytes in memory, any number of them in a turn of the event loop', async () => {
    const streams = new Md5Streams();
    for (const count of [1, 2, 5, 40]) {
      const bodies = Array.from({ length: count }, (_, body) =>
        randomBytes(body % 7 === 6 ? body : 16 * KIB + 1_000 * body),
      );
      const digests = await Promise.all(bodies.map((bytes) => streams.digestOf(bytes)));
      expect(digests.map((digest) => digest.toString('hex'))).toEqual(bodies.map(md5));
    }
  });

  it('of bytes in memory comes after a turn of the event loop, so that others can join', async () => {
    const streams = besideOthers(2);
    const order: string[] = [];
    const turn = new Promise<void>((resolve) => {
      setImmediate(() => {
        order.push('turn');
        resolve();
      });
    });
    const digests = [1, 2, 3].map((body) => streams.digestOf(randomBytes(body)).then(() => order.push('digest')));
    await Promise.all([turn, ...digests]);
    expect(order).toEqual(['turn', 'digest', 'digest', 'digest']);
  });

  it('keeps few bytes that the store has released', () => {
    const { bodies, done } = waitingStreams(besideOthers(2), 6 * (MAX_KEPT / (64 * KIB)), 64 * KIB);
    for (const [body, { release }] of bodies.entries()) {
      release();
      expect((body + 1 - done.size) * 64 * KIB).toBeLessThanOrEqual(MAX_KEPT);
    }
    for (const { stream, expected } of bodies) expect(digestOf(stream)).toBe(expected);
  });

  it('keeps few bytes that nobody releases: a chunk is done at once then', () => {
    const { bodies, done } = waitingStreams(besideOthers(2), 3 * (MAX_WAITING / (256 * KIB)), 256 * KIB);
    for (const { release } of bodies) release();
    expect(done.size * 256 * KIB).toBeGreaterThanOrEqual(2 * MAX_WAITING);
    for (const { stream, expected } of bodies) expect(digestOf(stream)).toBe(expected);
  });

  it('keeps few chunks of a client that sends single bytes', () => {
    const stream = besideOthers(2).start();
    const bytes = randomBytes(20 * MAX_CHUNKS);
    let done = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const chunk = Buffer.from(bytes.subarray(at, at + 1));
      stream.update(chunk);
      stream.release(chunk, () => (done += 1));
      expect(at + 1 - done).toBeLessThanOrEqual(MAX_CHUNKS);
    }
    expect(digestOf(stream)).toBe(md5(bytes));
  });

  it('lets a stream end twice, frees its chunks, and takes no more of it', () => {
    for (const others of [0, 2]) {
      const streams = besideOthers(others);
      const { bodies, done } = waitingStreams(streams, 2, 1_000);
      for (const { stream, release } of bodies) {
        release();
        stream.close();
        stream.close();
        stream.update(randomBytes(MAX_WAITING));
      }
      expect(done).toEqual(new Set([0, 1]));
      const next = waitingStreams(streams, 1, 1_000);
      for (const { stream, expected, release } of next.bodies) {
        release();
        if (others > 0) expect(next.done).toEqual(new Set());
        expect(digestOf(stream)).toBe(expected);
        stream.close();
      }
      expect(next.done).toEqual(new Set([0]));
    }
  });
});
