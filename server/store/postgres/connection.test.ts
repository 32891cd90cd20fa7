import * as fc from 'fast-check';
import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { BinaryRowsConnection } from './connection.ts';

it('takes rows out of a stream of messages and leaves the others to pg, in their order, however they are cut', () => {
  const fields = fc.array(fc.option(fc.uint8Array({ maxLength: 300 })), { maxLength: 4 });
  const message = fc.oneof(fields, fc.constant('I' as const));
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }),
      (messages, cuts) => {
        expect(taken(messages, cuts)).toEqual(
          messages.map((one) => (one === 'I' ? one : one.map((field) => field && Buffer.from(field)))),
        );
      },
    ),
  );
});

type Message = readonly (Uint8Array | null)[] | 'I';

function taken(messages: readonly Message[], cuts: readonly number[]): unknown[] {
  const connection = new BinaryRowsConnection({});
  const stream = new EventEmitter();
  connection.attachListeners(stream);
  const seen: unknown[] = [];
  connection.on('dataRow', (row: { fields: unknown[] }) => seen.push(row.fields));
  connection.on('emptyQuery', () => seen.push('I'));
  const bytes = Buffer.concat(messages.map(encoded));
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const length = cuts[index % cuts.length] ?? 1;
    stream.emit('data', bytes.subarray(at, at + length));
    at += length;
  }
  return seen;
}

/** A data row (`D`), or an answer to an empty query (`I`), which has no content. */
function encoded(message: Message): Buffer {
  if (message === 'I') return Buffer.from([0x49, 0, 0, 0, 4]);
  const parts = [Buffer.from([0, message.length])];
  for (const field of message) {
    const length = Buffer.alloc(4);
    length.writeInt32BE(field === null ? -1 : field.length);
    parts.push(length, Buffer.from(field ?? []));
  }
  const content = Buffer.concat(parts);
  const header = Buffer.from([0x44, 0, 0, 0, 0]);
  header.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([header, content]);
}
