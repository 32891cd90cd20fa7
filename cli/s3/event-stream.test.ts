import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventMessages, type EventMessage } from './event-stream.ts';

function encode({ headers, payload }: EventMessage): Buffer {
  const fields = Object.entries(headers).map(([name, value]) => {
    const [key, text] = [Buffer.from(name), Buffer.from(value)];
    return Buffer.concat([Buffer.of(key.length), key, Buffer.of(7, text.length >> 8, text.length & 255), text]);
  });
  const head = Buffer.concat(fields);
  const message = Buffer.alloc(16 + head.length + payload.length);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(head.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  head.copy(message, 12);
  payload.copy(message, 12 + head.length);
  message.writeUInt32BE(crc32(message.subarray(0, message.length - 4)), message.length - 4);
  return message;
}

async function read(bytes: Buffer, step: number): Promise<EventMessage[]> {
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
  }
  return Array.fromAsync(eventMessages(chunks()));
}

const message = fc.record({
  headers: fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), fc.string({ maxLength: 40 }), {
    maxKeys: 4,
    noNullPrototype: true,
  }),
  payload: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
});

describe('the messages of an event stream', () => {
  it('are read whatever the chunks are', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(message, { maxLength: 5 }),
        fc.integer({ min: 1, max: 300 }),
        async (messages, step) => {
          const parsed = await read(Buffer.concat(messages.map(encode)), step);
          expect(parsed).toEqual(messages);
        },
      ),
    ));

  it('have headers of any name', async () => {
    const message = { headers: { ['__proto__']: 'a', constructor: 'b' }, payload: Buffer.alloc(0) };
    expect(Object.entries((await read(encode(message), 64))[0]?.headers ?? {})).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it('are refused when a bit is wrong', () =>
    fc.assert(
      fc.asyncProperty(message, fc.nat(), fc.integer({ min: 0, max: 7 }), async (one, place, bit) => {
        const bytes = encode(one);
        bytes[place % bytes.length]! ^= 1 << bit;
        await expect(read(bytes, 64)).rejects.toThrow(/damaged|ends within/);
      }),
    ));

  it('never hang or overflow on any bytes', () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => {
        await read(Buffer.from(bytes), 50).catch(() => []);
      }),
    ));

  it('are refused when the last one is incomplete', async () => {
    const bytes = encode({ headers: {}, payload: Buffer.from('x') });
    await expect(read(bytes.subarray(0, -1), 8)).rejects.toThrow('ends within a message');
  });
});
