import { EventEmitter } from 'node:events';
import { Connection } from 'pg';

const DATA_ROW = 0x44;
/** A letter and the length, which counts itself but not the letter. */
const HEADER = 5;

/** What pg's reader of messages needs of a stream. */
interface MessageSource {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
}

/** `attachListeners` is pg's own seam between a socket and its reader of messages; its types leave it out. */
const Base = Connection as unknown as new (config: object) => Connection & {
  attachListeners(stream: MessageSource): void;
};

/**
 * A connection whose rows are bytes. pg reads every column as text, so that a `bytea` comes as hexadecimal digits in a string; here
 * rows are taken out before, and all else is left to pg.
 */
export class BinaryRowsConnection extends Base {
  #parts: Buffer[] = [];
  #held = 0;
  #needed = HEADER;

  override attachListeners(stream: MessageSource): void {
    const others = new EventEmitter();
    super.attachListeners(others);
    stream.on('data', (chunk: Buffer) => this.#take(chunk, others));
  }

  #take(chunk: Buffer, others: EventEmitter): void {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    // A body of 16 MiB comes in hundreds of chunks: they are put together once.
    if (this.#held < this.#needed) return;
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    let at = 0;
    let othersFrom = 0;
    this.#needed = HEADER;
    while (bytes.length - at >= HEADER) {
      const length = 1 + bytes.readUInt32BE(at + 1);
      if (bytes.length - at < length) {
        this.#needed = length;
        break;
      }
      if (bytes[at] === DATA_ROW) {
        if (othersFrom < at) others.emit('data', bytes.subarray(othersFrom, at));
        this.emit('dataRow', { name: 'dataRow', length, fields: fieldsOf(bytes.subarray(at + HEADER, at + length)) });
        othersFrom = at + length;
      }
      at += length;
    }
    if (othersFrom < at) others.emit('data', bytes.subarray(othersFrom, at));
    this.#parts = at < bytes.length ? [bytes.subarray(at)] : [];
    this.#held = bytes.length - at;
  }
}

/** Copied once, so that a small row keeps no large chunk alive. */
function fieldsOf(message: Buffer): (Buffer | null)[] {
  const row = Buffer.from(message);
  const count = row.readUInt16BE(0);
  const fields: (Buffer | null)[] = [];
  let at = 2;
  for (let index = 0; index < count; index += 1) {
    const length = row.readInt32BE(at);
    at += 4;
    if (length === -1) {
      fields.push(null);
    } else {
      fields.push(row.subarray(at, at + length));
      at += length;
    }
  }
  return fields;
}
