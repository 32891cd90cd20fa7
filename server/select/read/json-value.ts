import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { parseFloatOrDecimal, parseInteger } from '../evaluate/numbers.ts';
import { Struct, type Value } from '../evaluate/values.ts';

/**
 * Parses a text of JSON. `JSON.parse` would sort names that are numbers, leave out names that occur twice, and round long numbers.
 *
 * @throws S3Error JSONParsingError, also for a value that is nested more deeply than `maxDepth`
 */
export function parseJson(text: string): Value {
  return new JsonParser(text).parse();
}

/** Levels of objects and arrays. Each takes room of the stack here and where the value is written. */
const maxDepth = 1_000;

const number = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;

/** The code units of JSON. */
const code = {
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  f: 0x66,
  t: 0x74,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

class JsonParser {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): Value {
    const value = this.#value();
    if (this.#next() !== undefined) throw this.#unexpected();
    return value;
  }

  #value(): Value {
    const first = this.#next();
    if (first === code.openObject || first === code.openArray) return this.#nested(first);
    if (first === code.quote) return this.#string();
    if (first === code.minus || isDigit(first)) return this.#number();
    if (first === code.t) return this.#word('true', true);
    return first === code.f ? this.#word('false', false) : this.#word('null', null);
  }

  #nested(first: number): Value {
    this.#depth += 1;
    if (this.#depth > maxDepth) {
      throw new S3Error('JSONParsingError', `A JSON value is nested more deeply than ${maxDepth} levels.`);
    }
    const value = first === code.openObject ? this.#object() : this.#array();
    this.#depth -= 1;
    return value;
  }

  #object(): Struct {
    const names: string[] = [];
    const values: Value[] = [];
    this.#at += 1;
    if (this.#accept(code.closeObject)) return new Struct(names, values);
    do {
      if (this.#next() !== code.quote) throw this.#unexpected();
      names.push(this.#string());
      if (!this.#accept(code.colon)) throw this.#unexpected();
      values.push(this.#value());
    } while (this.#accept(code.comma));
    if (!this.#accept(code.closeObject)) throw this.#unexpected();
    return new Struct(names, values);
  }

  #array(): readonly Value[] {
    const values: Value[] = [];
    this.#at += 1;
    if (this.#accept(code.closeArray)) return values;
    do values.push(this.#value());
    while (this.#accept(code.comma));
    if (!this.#accept(code.closeArray)) throw this.#unexpected();
    return values;
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    for (let at = start + 1; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit === code.quote) {
        this.#at = at + 1;
        return text.slice(start + 1, at);
      }
      if (unit === code.backslash) return this.#escapedString(at);
      if (unit < 0x20) break;
    }
    throw this.#unexpected();
  }

  /** Reads a string whose first escape is known, by the parser of V8. */
  #escapedString(from: number): string {
    const text = this.#text;
    let at = from;
    while (at < text.length && text.charCodeAt(at) !== code.quote) at += text.charCodeAt(at) === code.backslash ? 2 : 1;
    try {
      const parsed = JSON.parse(text.slice(this.#at, at + 1)) as string;
      this.#at = at + 1;
      return parsed;
    } catch {
      throw this.#unexpected();
    }
  }

  /** A number with a point or an exponent is a FLOAT, as for other readers of JSON, unless it would lose digits. */
  #number(): Value {
    number.lastIndex = this.#at;
    const match = number.exec(this.#text);
    if (match === null) throw this.#unexpected();
    const [source, fraction, exponent] = match;
    const isInteger = fraction === undefined && exponent === undefined;
    const value = isInteger ? parseInteger(source) : parseFloatOrDecimal(source);
    if (value === undefined) {
      throw new S3Error(
        'JSONParsingError',
        `The number ${source.slice(0, 64)} of a JSON value has more than 400 digits or an exponent above 6144.`,
      );
    }
    this.#at += source.length;
    return value;
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#unexpected();
    this.#at += word.length;
    return value;
  }

  #accept(wanted: number): boolean {
    if (this.#next() !== wanted) return false;
    this.#at += 1;
    return true;
  }

  /** Skips white space, and returns the code unit that follows; undefined at the end. */
  #next(): number | undefined {
    const text = this.#text;
    while (this.#at < text.length) {
      const unit = text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return unit;
      this.#at += 1;
    }
    return undefined;
  }

  #unexpected(): S3Error {
    const shown = JSON.stringify(this.#text.slice(this.#at, this.#at + 16));
    const what = this.#at >= this.#text.length ? 'it ends too early' : `${shown} at ${this.#at + 1} is unexpected`;
    return new S3Error('JSONParsingError', `A JSON value is not valid: ${what}.`);
  }
}

function isDigit(unit: number | undefined): boolean {
  return unit !== undefined && unit >= code.zero && unit <= code.nine;
}
