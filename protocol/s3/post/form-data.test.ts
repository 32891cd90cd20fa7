import { array, asyncProperty, assert, constantFrom, integer, oneof, string, uint8Array } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formBoundary, formSteps } from './form-data.ts';
import { S3Error } from '../s3-error.ts';

const boundary = 'XyZ';
const part = (disposition: string, content: string, more = '') =>
  `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n${content}\r\n`;
const field = (name: string, value: string) => part(`name="${name}"`, value);
const file = (content: string, name = 'a.txt') =>
  part(`name="file"; filename="${name}"`, content, 'Content-Type: a/b\r\n');
const end = `--${boundary}--\r\n`;

interface Read {
  readonly fields: (readonly [string, string])[];
  readonly filename: string | undefined;
  readonly file: Buffer;
}

async function read(body: string | Buffer, cuts: readonly number[] = []): Promise<Read> {
  const fields: (readonly [string, string])[] = [];
  let filename: string | undefined;
  const data: Buffer[] = [];
  for await (const step of formSteps(cut(Buffer.from(body), cuts), boundary)) {
    if (step.kind === 'field') fields.push([step.name, step.value]);
    else if (step.kind === 'file') ({ filename } = step);
    // A copy, since a later chunk must not change it.
    else data.push(step.bytes);
  }
  return { fields, filename, file: Buffer.concat(data) };
}

/** Cuts bytes at random places. Each chunk is overwritten after the next one came, as a pool of buffers would do. */
async function* cut(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const places = [...new Set(cuts.map((at) => at % (bytes.length + 1)))].toSorted((a, b) => a - b);
  let from = 0;
  for (const at of [...places, bytes.length]) {
    yield Buffer.from(bytes.subarray(from, at));
    from = at;
  }
}

const codeOf = (body: string | Buffer) =>
  read(body).then(
    () => undefined,
    (error: unknown) => (error instanceof S3Error ? error.code : String(error)),
  );

describe('formSteps', () => {
  it('reads fields and the file, and leaves out what follows the file', async () => {
    const body = field('key', 'a/b') + field('x', '') + file('hello') + field('submit', 'Upload') + end;
    expect(await read(body)).toEqual({
      fields: [
        ['key', 'a/b'],
        ['x', ''],
      ],
      filename: 'a.txt',
      file: Buffer.from('hello'),
    });
  });

  it.each([
    ['an empty file', file('') + end, ''],
    ['a file of line breaks', file('\r\n\r\n') + end, '\r\n\r\n'],
    ['a file with most of a delimiter', file(`\r\n--Xy\r\n--`) + end, `\r\n--Xy\r\n--`],
    ['no line break at the end', `${file('a')}--${boundary}--`, 'a'],
    ['a line break before', `\r\n${file('a')}${end}`, 'a'],
    ['spaces after a delimiter', file('a').replace('XyZ\r\n', 'XyZ \t\r\n') + end, 'a'],
    ['something after the end', `${file('a')}${end}epilogue`, 'a'],
  ])('reads %s', async (_, body, content) => {
    expect((await read(body)).file.toString()).toBe(content);
  });

  it.each([
    ['name="file"; filename="C:\\dir\\a.txt"', 'C:\\dir\\a.txt'],
    ['name="file"; filename="C:\\dir\\"', 'C:\\dir\\'],
    ['name="file"; filename="a\\"b.txt"', 'a"b.txt'],
    ['name="file"; filename="a;b=c.txt"', 'a;b=c.txt'],
    ['filename=a.txt; name=file', 'a.txt'],
    ['name="file"; filename=""', ''],
    ['name="file"', undefined],
    ['name="file"; filename="x"; filename*=UTF-8\'\'pr%C3%A9.jpg', 'pré.jpg'],
    ['NAME="FILE"; FileName="pré.jpg"', 'pré.jpg'],
  ])('reads the file name of %s', async (disposition, filename) => {
    expect((await read(part(disposition, 'x') + end)).filename).toBe(filename);
  });

  it('takes the name of a file that is not UTF-8 for ISO-8859-1', async () => {
    expect((await read(Buffer.from(file('x', 'blé.txt') + end, 'latin1'))).filename).toBe('blé.txt');
  });

  it.each([
    ['nothing', '', 'MalformedPOSTRequest'],
    ['no end', file('a'), 'MalformedPOSTRequest'],
    ['an end in the file', file('a').slice(0, -4), 'MalformedPOSTRequest'],
    ['text before', `x${file('a')}${end}`, 'MalformedPOSTRequest'],
    ['no headers', `--${boundary}\r\n\r\na\r\n${end}`, 'MalformedPOSTRequest'],
    ['no name', part('x=y', 'a') + end, 'MalformedPOSTRequest'],
    ['an empty name', part('name=""; filename="a"', 'a') + end, 'MalformedPOSTRequest'],
    ['another disposition', file('a').replace('form-data', 'file') + end, 'MalformedPOSTRequest'],
    ['a longer delimiter', file('a').replace('XyZ', 'XyZa') + end, 'MalformedPOSTRequest'],
    ['a value that is not UTF-8', Buffer.from(field('a', '\xff') + file('a') + end, 'latin1'), 'MalformedPOSTRequest'],
    ['no file', field('key', 'a') + end, 'InvalidArgument'],
    ['no part', end, 'InvalidArgument'],
    ['two files', file('a') + file('b') + end, 'IncorrectNumberOfFilesInPostRequest'],
    ['fields of more than 20 KiB', field('a', 'b'.repeat(20_480)) + file('a') + end, 'MaxPostPreDataLengthExceeded'],
    ['a file by another name', part('name="upload"', 'b'.repeat(70_000)) + end, 'MaxPostPreDataLengthExceeded'],
    ['headers without an end', `--${boundary}\r\n${'a'.repeat(70_000)}`, 'MaxPostPreDataLengthExceeded'],
    ['many fields without content', field('', '').repeat(2_000) + file('a') + end, 'MaxPostPreDataLengthExceeded'],
    ['too much after the file', file('a') + field('x', 'b'.repeat(70_000)) + end, 'MalformedPOSTRequest'],
    ['too much after the end', `${file('a')}${end}${'b'.repeat(70_000)}`, 'MalformedPOSTRequest'],
  ])('refuses %s', async (_, body, code) => {
    expect(await codeOf(body)).toBe(code);
  });

  it('takes fields of 20 KiB', async () => {
    expect((await read(field('a', 'b'.repeat(20_479)) + file('a') + end)).fields).toHaveLength(1);
  });

  it('reads nothing of the file before it is asked to', async () => {
    let chunks = 0;
    let ended = false;
    async function* source() {
      try {
        for (const text of [field('key', 'a'), file('a').slice(0, -3), 'more', `\r\n${end}`]) {
          chunks += 1;
          yield Buffer.from(text);
        }
      } finally {
        ended = true;
      }
    }
    const steps = formSteps(source(), boundary);
    await steps.next();
    expect(await steps.next()).toMatchObject({ value: { kind: 'file' } });
    await steps.return(undefined);
    expect([chunks, ended]).toEqual([2, true]);
  });

  it('reads the same however the bytes are cut', async () => {
    const content = oneof(
      uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      array(constantFrom('\r', '\n', '-', '\r\n--XyZ'.slice(0, 6), '\r\n--Xy', 'a')).map((parts) =>
        Buffer.from(parts.join('')),
      ),
    );
    await assert(
      asyncProperty(content, array(integer({ min: 0, max: 10_000 })), async (bytes, cuts) => {
        const body = Buffer.concat([
          Buffer.from(field('key', 'a') + file('#')).subarray(0, -3),
          bytes,
          Buffer.from(`\r\n${field('b', 'c')}${end}`),
        ]);
        const { fields, file: received } = await read(body, cuts);
        expect(fields).toEqual([['key', 'a']]);
        expect(received.equals(bytes)).toBe(true);
      }),
    );
  });

  it('ends any bytes with a form or an S3Error, after each byte of them', async () => {
    const text = constantFrom(
      '--XyZ',
      '\r\n',
      '\r\n--XyZ',
      '--',
      'Content-Disposition: form-data; name="',
      '"',
      'file',
      'filename=',
      ';',
      field('a', 'b'),
      file('a'),
      end,
    );
    await assert(
      asyncProperty(array(oneof(text, string())), integer({ min: 1, max: 7 }), async (parts, size) => {
        const body = Buffer.from(parts.join(''));
        const cuts = Array.from({ length: Math.ceil(body.length / size) }, (_, index) => index * size);
        const one = await read(body).catch((error: unknown) => error);
        const other = await read(body, cuts).catch((error: unknown) => error);
        if (one instanceof Error) expect(one).toBeInstanceOf(S3Error);
        expect(other).toEqual(one);
      }),
    );
  });

  it('copies each byte a bounded number of times when they come one by one', async () => {
    const body = Buffer.from(field('a', 'b'.repeat(20_000)) + file('\r'.repeat(50_000)) + end);
    const copied: number[] = [];
    const { copy } = Buffer.prototype;
    Buffer.prototype.copy = function count(this: Buffer, ...given: Parameters<typeof copy>) {
      const bytes = copy.apply(this, given);
      copied.push(bytes);
      return bytes;
    };
    try {
      await read(
        body,
        Array.from({ length: body.length }, (_, index) => index),
      );
    } finally {
      Buffer.prototype.copy = copy;
    }
    expect(copied.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(12 * body.length);
  });
});

describe('formBoundary', () => {
  it.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data; charset=utf-8; Boundary="a b=c"', 'a b=c'],
    [`multipart/form-data; boundary=${'-'.repeat(70)}`, '-'.repeat(70)],
  ])('reads %s', (contentType, expected) => {
    expect(formBoundary(contentType)).toBe(expected);
  });

  it.each([
    [undefined, 'PreconditionFailed'],
    ['application/x-www-form-urlencoded', 'PreconditionFailed'],
    ['multipart/mixed; boundary=a', 'PreconditionFailed'],
    ['multipart/form-data', 'MalformedPOSTRequest'],
    ['multipart/form-data; boundary=', 'MalformedPOSTRequest'],
    [`multipart/form-data; boundary=${'-'.repeat(71)}`, 'MalformedPOSTRequest'],
    ['multipart/form-data; boundary="a\u00e4"', 'MalformedPOSTRequest'],
  ])('refuses %s', (contentType, code) => {
    expect(() => formBoundary(contentType)).toThrow(expect.objectContaining({ code }));
  });
});
