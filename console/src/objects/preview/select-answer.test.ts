import { describe, expect, it } from 'vitest';
import { selectedText, tableOf } from './select-answer.ts';

function message(headers: Readonly<Record<string, string>>, payload: Uint8Array | string = ''): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const size = Buffer.alloc(2);
      size.writeUInt16BE(Buffer.byteLength(value));
      return Buffer.concat([Buffer.of(name.length), Buffer.from(name), Buffer.of(7), size, Buffer.from(value)]);
    }),
  );
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  return Buffer.concat([prelude, head, body, Buffer.alloc(4)]);
}

const records = (payload: Uint8Array | string) =>
  message({ ':message-type': 'event', ':event-type': 'Records' }, payload);

const answer = (...messages: readonly Buffer[]) => Uint8Array.from(Buffer.concat(messages)).buffer;

describe('the answer of a query', () => {
  it('joins the records, and leaves out what is none', () => {
    const stats = message({ ':message-type': 'event', ':event-type': 'Stats' }, '<Stats/>');
    expect(selectedText(answer(records('{"a":'), stats, records('1}\n')))).toBe('{"a":1}\n');
  });

  it('joins a character that two messages share', () => {
    const bytes = Buffer.from('ü');
    expect(selectedText(answer(records(bytes.subarray(0, 1)), records(bytes.subarray(1))))).toBe('ü');
  });

  it('is an error where the server sends one', () => {
    const failed = message({ ':message-type': 'error', ':error-code': 'Bad', ':error-message': 'no Parquet' });
    expect(() => selectedText(answer(records('{}'), failed))).toThrow('no Parquet');
  });

  it('ends where it is cut off', () => {
    const whole = Buffer.concat([records('{"a":1}\n'), records('{"a":2}\n')]);
    expect(selectedText(answer(whole.subarray(0, -3)))).toBe('{"a":1}\n');
    expect(selectedText(answer(Buffer.alloc(40, 0xff)))).toBe('');
  });
});

describe('the table of a query', () => {
  it('has all columns, and an empty cell where there is no value', () => {
    expect(tableOf('{"a":1,"b":"x"}\n{"a":null,"c":[1]}\n{"cut')).toEqual([
      ['a', 'b', 'c'],
      ['1', 'x', ''],
      ['', '', '[1]'],
    ]);
  });

  it('keeps the order and the names of the columns, and the digits of numbers', () => {
    const lines =
      '{"2020":1.10,"2019":12345678901234567890,"__proto__":"a,b: \\"}","constructor":{"x":[1,{"y":"}"}]}}\n{"2020":null}';
    expect(tableOf(lines)).toEqual([
      ['2020', '2019', '__proto__', 'constructor'],
      ['1.10', '12345678901234567890', 'a,b: "}', '{"x":[1,{"y":"}"}]}'],
      ['', '', '', ''],
    ]);
  });
});
