import { FormatError } from '../../protocol/format-error.ts';

const CR = 13;
const LF = 10;
const headLimit = 65_536;

type State = 'head' | 'counted' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailer' | 'until-close' | 'complete';

/**
 * Parses the answers of one connection that has one pending request. It reads only the status, the length and whether the connection
 * closes, and allocates nothing for a head that arrives in one read. It throws `FormatError` where the server sent invalid HTTP/1.1, or more
 * than one answer.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112
 */
export class ResponseParser {
  status = 0;
  /** The bytes of the body so far, without the chunked framing. */
  bodyBytes = 0;
  /** The content length of the head, also of an answer to HEAD; -1 without one. */
  declaredLength = -1;
  /** The server closes the connection after this answer. */
  closes = false;
  /** Gets each chunk of a body. The next read overwrites the bytes. */
  onBody: ((bytes: Buffer) => void) | undefined;
  #state: State = 'complete';
  #bodiless = false;
  #chunked = false;
  #left = 0;
  #size = 0;
  #sizeDigits = 0;
  #sizeOver = false;
  #lineBytes = 0;
  #partial: Buffer | undefined;
  #head = '';
  #keepHead = false;

  /** Prepares for the answer to a request. `bodiless` is for HEAD. */
  expect(bodiless: boolean, keepHead = false): void {
    this.#state = 'head';
    this.#bodiless = bodiless;
    this.#keepHead = keepHead;
    this.status = 0;
    this.bodyBytes = 0;
    this.declaredLength = -1;
    this.closes = false;
    this.#chunked = false;
    this.#partial = undefined;
  }

  /** The text of the head, if `expect` was asked to keep it. */
  get head(): string {
    return this.#head;
  }

  /** Parses the first `length` bytes; true when they complete the answer. */
  feed(bytes: Buffer, length: number): boolean {
    let at = 0;
    if (this.#state === 'head') {
      at = this.#readHead(bytes, length);
      if (at < 0) return false;
    }
    while (at < length) {
      if (this.#state === 'complete') throw new FormatError(`${length - at} bytes follow a complete answer`);
      at = this.#readBody(bytes, at, length);
    }
    return this.#state === 'complete';
  }

  /** Handles the end of the connection; true when it completes the answer. */
  end(): boolean {
    if (this.#state !== 'until-close') return false;
    this.#state = 'complete';
    return true;
  }

  /** Returns the start of the body, or -1 while the head is incomplete. */
  #readHead(bytes: Buffer, length: number): number {
    const before = this.#partial?.length ?? 0;
    const fresh = bytes.subarray(0, length);
    const all = this.#partial === undefined ? fresh : Buffer.concat([this.#partial, fresh]);
    const end = all.indexOf('\r\n\r\n');
    if (end < 0) {
      if (all.length > headLimit) throw new FormatError(`the head of an answer exceeds ${headLimit} bytes`);
      this.#partial = all === fresh ? Buffer.from(fresh) : all;
      return -1;
    }
    this.#partial = undefined;
    if (this.#keepHead) this.#head = all.toString('latin1', 0, end);
    this.#parseHead(all, end);
    return end + 4 - before;
  }

  #parseHead(all: Buffer, end: number): void {
    // "HTTP/1.1 200 OK"
    if (all[0] !== 0x48 || all[8] !== 0x20) throw new FormatError('an answer does not begin with HTTP/1.1');
    this.status = digit(all[9]) * 100 + digit(all[10]) * 10 + digit(all[11]);
    let line = all.indexOf(LF, 12) + 1;
    while (line > 0 && line < end) {
      const next = all.indexOf(LF, line);
      const stop = next < 0 || next > end ? end : next - 1;
      this.#parseField(all, line, stop);
      line = next + 1;
    }
    this.#begin();
  }

  /** First letter and length rule out most names before a comparison. */
  #parseField(all: Buffer, start: number, stop: number): void {
    const letter = (all[start] ?? 0) | 0x20;
    if (letter === 0x63 && all[start + 14] === 0x3a && isNamed(all, start, 'content-length')) {
      let value = 0;
      for (let at = start + 15; at < stop; at += 1) {
        const byte = all[at] ?? 0;
        if (byte !== 0x20) value = value * 10 + digit(byte);
      }
      this.declaredLength = value;
    } else if (letter === 0x63 && all[start + 10] === 0x3a && isNamed(all, start, 'connection')) {
      this.closes =
        all
          .toString('latin1', start + 11, stop)
          .trim()
          .toLowerCase() === 'close';
    } else if (letter === 0x74 && all[start + 17] === 0x3a && isNamed(all, start, 'transfer-encoding')) {
      this.#chunked = all
        .toString('latin1', start + 18, stop)
        .trim()
        .toLowerCase()
        .endsWith('chunked');
    }
  }

  #begin(): void {
    if (this.status >= 100 && this.status < 200) {
      // This is an interim answer. The final one follows.
      this.expect(this.#bodiless, this.#keepHead);
      return;
    }
    if (this.#bodiless || this.status === 204 || this.status === 304) this.#state = 'complete';
    else if (this.#chunked) this.#beginChunk();
    else if (this.declaredLength < 0) this.#state = 'until-close';
    else {
      this.#left = this.declaredLength;
      this.#state = this.#left === 0 ? 'complete' : 'counted';
    }
  }

  #beginChunk(): void {
    this.#state = 'chunk-size';
    this.#size = 0;
    this.#sizeDigits = 0;
    this.#sizeOver = false;
  }

  #readBody(bytes: Buffer, at: number, length: number): number {
    switch (this.#state) {
      case 'counted': {
        const took = this.#take(bytes, at, Math.min(length, at + this.#left));
        if (this.#left === 0) this.#state = 'complete';
        return took;
      }
      case 'chunk-data': {
        const took = this.#take(bytes, at, Math.min(length, at + this.#left));
        if (this.#left === 0) this.#state = 'chunk-end';
        return took;
      }
      case 'until-close':
        return this.#take(bytes, at, length);
      case 'head': {
        const start = this.#readHead(bytes.subarray(at, length), length - at);
        return start < 0 ? length : at + start;
      }
      case 'chunk-size':
      case 'chunk-end':
      case 'trailer':
      case 'complete':
        this.#readFraming(bytes[at] ?? 0);
        return at + 1;
    }
  }

  #take(bytes: Buffer, from: number, to: number): number {
    this.bodyBytes += to - from;
    this.#left -= to - from;
    this.onBody?.(bytes.subarray(from, to));
    return to;
  }

  #readFraming(byte: number): void {
    if (this.#state === 'chunk-size') {
      if (byte === LF) this.#endSizeLine();
      else if (byte === 0x3b || byte === CR) this.#sizeOver = true;
      else if (!this.#sizeOver) {
        this.#size = this.#size * 16 + hexDigit(byte);
        this.#sizeDigits += 1;
      }
    } else if (this.#state === 'chunk-end') {
      if (byte === LF) this.#beginChunk();
    } else if (byte === LF) {
      if (this.#lineBytes === 0) this.#state = 'complete';
      this.#lineBytes = 0;
    } else if (byte !== CR) this.#lineBytes += 1;
  }

  #endSizeLine(): void {
    if (this.#sizeDigits === 0) throw new FormatError('a chunk has no size');
    this.#left = this.#size;
    this.#lineBytes = 0;
    this.#state = this.#size === 0 ? 'trailer' : 'chunk-data';
  }
}

function isNamed(bytes: Buffer, start: number, name: string): boolean {
  for (let at = 0; at < name.length; at += 1) {
    if (((bytes[start + at] ?? 0) | 0x20) !== (name.charCodeAt(at) | 0x20)) return false;
  }
  return true;
}

function digit(byte: number | undefined): number {
  if (byte === undefined || byte < 0x30 || byte > 0x39) throw new FormatError('a number of an answer has no digits');
  return byte - 0x30;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  if (letter >= 0x61 && letter <= 0x66) return letter - 0x57;
  throw new FormatError('the size of a chunk is no hexadecimal number');
}
