import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Value } from '../evaluate/values.ts';
import { maxRecord } from './csv-reader.ts';
import { parseJson } from './json-value.ts';

/** @throws S3Error JSONParsingError, OverMaxRecordSize */
function parseRecord(text: string): Value {
  if (text.length > maxRecord) throw new S3Error('OverMaxRecordSize');
  return parseJson(text);
}

/** Reads text that comes in parts as lines of one value each. */
export class JsonLinesReader {
  #rest = '';

  /** @throws S3Error JSONParsingError, OverMaxRecordSize */
  *read(text: string, last: boolean): Generator<Value> {
    const all = this.#rest + text;
    let at = 0;
    for (;;) {
      const found = all.indexOf('\n', at);
      if (found < 0 && !last) break;
      const line = all.slice(at, found < 0 ? all.length : found);
      at = found < 0 ? all.length : found + 1;
      if (!isBlank(line)) yield parseRecord(line);
      if (found < 0) break;
    }
    this.#rest = all.slice(at);
    if (this.#rest.length > maxRecord) throw new S3Error('OverMaxRecordSize');
  }
}

function isBlank(line: string): boolean {
  return line.length < 64 && line.trim() === '';
}

/**
 * Reads text that comes in parts as values one after the other, with white space or nothing between them. It finds the end of each value,
 * and leaves the rest to `parseJson`.
 */
export class JsonDocumentReader {
  readonly #unwraps: boolean;
  #text = '';
  /** The beginning of the value, and how far it was read. */
  #start = 0;
  #at = 0;
  #depth = 0;
  #inString = false;
  /** Within an array of the root whose elements are the records. */
  #inArray = false;
  #expects: 'value' | 'comma' | 'first' = 'value';

  /** @param unwraps the elements of an array are records, and so the array may have any size; any other value is MISSING */
  constructor(unwraps: boolean) {
    this.#unwraps = unwraps;
  }

  /** @throws S3Error JSONParsingError, OverMaxRecordSize */
  *read(text: string, last: boolean): Generator<Value> {
    this.#text = this.#text.slice(this.#start) + text;
    this.#at -= this.#start;
    this.#start = 0;
    while (this.#skipBetween()) {
      const end = this.#endOfValue(last);
      if (end === undefined) break;
      const parsed = parseRecord(this.#text.slice(this.#start, end));
      this.#start = this.#at = end;
      this.#expects = 'comma';
      yield this.#unwraps && !this.#inArray ? undefined : parsed;
    }
    if (this.#text.length - this.#start > maxRecord) throw new S3Error('OverMaxRecordSize');
    if (last && (this.#inArray || this.#start < this.#text.length)) {
      throw new S3Error('JSONParsingError', 'The JSON file ends within a value.');
    }
  }

  /** Skips what is between values, and reports if a value begins. */
  #skipBetween(): boolean {
    if (this.#at > this.#start) return true;
    const text = this.#text;
    for (; this.#start < text.length; this.#start += 1) {
      const character = text.charAt(this.#start);
      if (isSpace(character)) continue;
      if (!this.#inArray) {
        if (!this.#unwraps || character !== '[') break;
        this.#inArray = true;
        this.#expects = 'first';
      } else if (character === ']' && this.#expects !== 'value') this.#inArray = false;
      else if (character === ',' && this.#expects === 'comma') this.#expects = 'value';
      else if (this.#expects === 'comma') throw new S3Error('JSONParsingError', 'A comma is missing in an array.');
      else break;
    }
    this.#at = this.#start;
    return this.#start < text.length;
  }

  #endOfValue(last: boolean): number | undefined {
    const text = this.#text;
    for (; this.#at < text.length; this.#at += 1) {
      const code = text.charCodeAt(this.#at);
      if (this.#inString) {
        const skipped = this.#skipString(code);
        if (skipped === undefined) return undefined;
        if (skipped && this.#depth === 0) return this.#at + 1;
        continue;
      }
      const kind = structure.get(code);
      if (kind === undefined) continue;
      // A number or a word ends where anything else begins.
      if (this.#depth === 0 && this.#at > this.#start) return this.#at;
      if (kind === 'quote') this.#inString = true;
      else if (kind === 'open') this.#depth += 1;
      else if (kind === 'close') {
        this.#depth -= 1;
        if (this.#depth === 0) return this.#at + 1;
        if (this.#depth < 0) throw new S3Error('JSONParsingError', 'A bracket closes nothing.');
      }
    }
    const isNumberOrWord = this.#depth === 0 && !this.#inString;
    return last && isNumberOrWord ? text.length : undefined;
  }

  /** Goes on within a string. Returns true at its end, false before it, undefined where the text ends within an escape. */
  #skipString(code: number): boolean | undefined {
    if (code === 0x5c) {
      if (this.#at + 1 >= this.#text.length) return undefined;
      this.#at += 1;
    } else if (code === 0x22) this.#inString = false;
    return !this.#inString;
  }
}

/** The characters that are not within a number or a word. */
const structure: ReadonlyMap<number, 'quote' | 'open' | 'close' | 'between'> = new Map([
  [0x22, 'quote'],
  [0x7b, 'open'],
  [0x5b, 'open'],
  [0x7d, 'close'],
  [0x5d, 'close'],
  [0x2c, 'between'],
  [0x20, 'between'],
  [0x0a, 'between'],
  [0x0d, 'between'],
  [0x09, 'between'],
]);

function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\r' || character === '\t' || character === '\uFEFF';
}
