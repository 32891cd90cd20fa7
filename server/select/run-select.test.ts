import { gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import {
  csvInput,
  csvOutput,
  jsonDocument,
  jsonLines,
  jsonOutput,
  messagesOf,
  select,
} from '../../test/support/select/select-test.ts';
import type { SelectRequest } from './select-request.ts';

const people = 'name,age,city\nAda,36,London\nGrace,85,"New York, NY"\nAlan,41,\n';

async function codeOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
    return 'none';
  } catch (error) {
    return error instanceof S3Error ? error.code : String(error);
  }
}

describe('a query of CSV', () => {
  it.each([
    ['SELECT * FROM S3Object', 'Ada,36,London\nGrace,85,"New York, NY"\nAlan,41,\n'],
    ['select s.name from s3object s where s.age > 40', 'Grace\nAlan\n'],
    ['SELECT "name", AGE FROM S3Object LIMIT 1', 'Ada,36\n'],
    ["SELECT s._1, s._2 FROM S3Object s WHERE s._3 = 'London'", 'Ada,36\n'],
    ['SELECT COUNT(*), SUM(CAST(age AS INT)), AVG(age), MIN(age), MAX(age) FROM S3Object', '3,162,54,36,85\n'],
    ['SELECT COUNT(*) + 1 FROM S3Object s LIMIT 1', '4\n'],
    ["SELECT name FROM S3Object WHERE city LIKE 'New%'", 'Grace\n'],
    ["SELECT name FROM S3Object WHERE city NOT LIKE '%o_%' OR name IN ('Ada', 'x')", 'Ada\nAlan\n'],
    ['SELECT name FROM S3Object WHERE age BETWEEN 36 AND 41 AND NOT age = 36', 'Alan\n'],
    ["SELECT CASE WHEN CAST(age AS INT) > 50 THEN 'old' ELSE 'young' END AS c FROM S3Object", 'young\nold\nyoung\n'],
    ['SELECT s.* FROM S3Object AS s LIMIT 0', ''],
    ['SELECT _9 FROM S3Object LIMIT 1', '\n'],
  ])('answers %s', async (expression, expected) => {
    expect(await select(people, { expression })).toBe(expected);
  });

  it('writes JSON with the names of the header', async () => {
    const expression = 'SELECT name, age + 1 AS next FROM S3Object LIMIT 1';
    expect(await select(people, { expression, output: jsonOutput })).toBe('{"name":"Ada","next":37}\n');
  });

  it('has names by position without a header', async () => {
    const input = { ...csvInput, csv: { ...csvInput.csv, header: 'NONE' as const } };
    const result = await select('a,b\n', { expression: 'SELECT * FROM S3Object', input, output: jsonOutput });
    expect(result).toBe('{"_1":"a","_2":"b"}\n');
  });

  it.each([
    ['SELECT nothing FROM S3Object', 'MissingHeaders'],
    ['SELECT _0 FROM S3Object', 'InvalidColumnIndex'],
    ['SELECT CAST(name AS INT) FROM S3Object', 'CastFailed'],
    ['SELECT name.first FROM S3Object', 'InvalidKeyPath'],
    ['SELECT * FROM S3Object[*].a', 'InvalidKeyPath'],
    ['SELECT SUM(name) FROM S3Object', 'InvalidDataType'],
    ['SELECT age / 0 FROM S3Object', 'EvaluatorInvalidArguments'],
  ])('refuses %s with %s', async (expression, code) => {
    expect(await codeOf(select(people, { expression }))).toBe(code);
  });

  it('ends a stream that began with an error message', async () => {
    const rows = `name\n${'x'.repeat(99_999)}\n${'y'.repeat(99_999)}\n1\n`;
    const expression = "SELECT name, CASE WHEN name = '1' THEN CAST('x' AS INT) END FROM S3Object";
    const messages = await messagesOf(Buffer.from(rows), { expression });
    expect(messages.map(({ headers }) => headers[':event-type'] ?? headers[':error-code'])).toEqual([
      'Records',
      'CastFailed',
    ]);
  });
});

describe('a query of JSON', () => {
  const rules = '{"Rules":[{"id":"1"},{"expr":"y > x"},{"id":"2"}],"n":{"a":[5,6.5]}}\n{"created":1}';

  it.each([
    ['SELECT * FROM S3Object[*].Rules[*].id', '{"id":"1"}\n{}\n{"id":"2"}\n{}\n'],
    ['SELECT id FROM S3Object[*].Rules[*].id', '{"id":"1"}\n{}\n{"id":"2"}\n{}\n'],
    ['SELECT r.id FROM S3Object[*].Rules[*] r WHERE r.id IS NOT MISSING', '{"id":"1"}\n{"id":"2"}\n'],
    ['SELECT s.n.a[1] AS x, s.n.a[0] / 2 AS y, s.n.b FROM S3Object s LIMIT 1', '{"x":6.5,"y":2}\n'],
    ['SELECT _1.created FROM S3Object[*] WHERE _1.created = 1', '{"created":1}\n'],
    ['SELECT COUNT(s.n) FROM S3Object s', '{"_1":1}\n'],
  ])('answers %s', async (expression, expected) => {
    const result = await select(rules, { expression, input: jsonDocument, output: jsonOutput });
    expect(result.replaceAll('{"_1":"1"}', '{"id":"1"}').replaceAll('{"_1":"2"}', '{"id":"2"}')).toBe(expected);
  });

  it('streams the elements of an array of the root', async () => {
    const elements = Array.from({ length: 50_000 }, (_, at) => ({ at, text: 'x'.repeat(40) }));
    const expression = 'SELECT SUM(s.at) AS total FROM S3Object[*][*] s';
    const result = await select(JSON.stringify(elements), { expression, input: jsonDocument, output: jsonOutput });
    expect(result).toBe('{"total":1249975000}\n');
  });

  it('keeps the digits of large integers', async () => {
    const expression = 'SELECT s.a, s.a + 1 AS b FROM S3Object s';
    const result = await select('{"a":9007199254740993}\n', { expression, input: jsonLines, output: jsonOutput });
    expect(result).toBe('{"a":9007199254740993,"b":9007199254740994}\n');
  });

  it('writes objects as JSON in CSV', async () => {
    const result = await select('{"a":{"b":[1,null]},"c":null}\n', {
      expression: 'SELECT * FROM S3Object',
      input: jsonLines,
    });
    expect(result).toBe('"{""b"":[1,null]}",\n');
  });

  it('refuses a line that is no JSON', async () => {
    expect(await codeOf(select('{"a":1}\n{"a"\n', { expression: 'SELECT * FROM S3Object', input: jsonLines }))).toBe(
      'JSONParsingError',
    );
  });

  it('refuses a value that is nested by the hundred thousand, without an overflow', async () => {
    const deep = `${'['.repeat(300_000)}${']'.repeat(300_000)}\n`;
    const code = await codeOf(select(deep, { expression: 'SELECT * FROM S3Object', input: jsonLines }));
    expect(['OverMaxRecordSize', 'JSONParsingError']).toContain(code);
  });
});

/** Changes a byte in the middle, which the checksum covers. */
function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[70] = (copy[70] ?? 0) ^ 1;
  return copy;
}

describe('compressed sources', () => {
  const expression = 'SELECT COUNT(*) FROM S3Object';
  const bzip2 = Buffer.from(
    'QlpoOTFBWSZTWWWGI5MAABnfgAAQUAQvQCCFACAur5SgIABUUAAAAAIp4iekNHlDE00yYP14Y5KFY9pRRBYAzEuQssipd8bcHN1frbI7RDuLxt5nhe398XckU4UJBlhiOTA=',
    'base64',
  );

  it.each([
    ['GZIP', gzipSync(people)],
    ['ZSTD', zstdCompressSync(people)],
    ['BZIP2', bzip2],
  ] as const)('reads %s', async (compression, bytes) => {
    expect(await select(bytes, { expression, input: { ...csvInput, compression } })).toBe('3\n');
  });

  it.each([
    ['GZIP', gzipSync(people).subarray(0, 30), 'TruncatedInput'],
    ['GZIP', Buffer.from(people), 'InvalidCompressionFormat'],
    ['ZSTD', Buffer.from(people), 'InvalidCompressionFormat'],
    ['BZIP2', Buffer.from(people), 'InvalidCompressionFormat'],
    ['BZIP2', bzip2.subarray(0, 40), 'TruncatedInput'],
    ['BZIP2', damaged(bzip2), 'InvalidCompressionFormat'],
  ] as const)('refuses damaged %s', async (compression, bytes, code) => {
    expect(await codeOf(select(bytes, { expression, input: { ...csvInput, compression } }))).toBe(code);
  });
});

describe('a scan range', () => {
  const lines = Array.from({ length: 500 }, (_, at) => `${at},${'v'.repeat(at % 13)}\n`);
  const bytes = Buffer.from(lines.join(''));
  const input = { ...csvInput, csv: { ...csvInput.csv, header: 'NONE' as const } };

  it('reads each record in exactly one of adjacent ranges', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 6 }),
        fc.integer({ min: 1, max: 97 }),
        async (cuts, chunk) => {
          const edges = [...new Set([0, ...cuts, bytes.length])].sort((a, b) => a - b);
          let all = '';
          for (let at = 0; at + 1 < edges.length; at += 1) {
            const range = { start: edges[at] ?? 0, end: (edges[at + 1] ?? 0) - 1 };
            all += await select(bytes, { expression: 'SELECT * FROM S3Object', input, range }, chunk);
          }
          expect(all).toBe(bytes.toString());
        },
      ),
      { numRuns: 60 },
    );
  });

  it('reads the last bytes with an end alone', async () => {
    expect(await select('a\nb\nc\n', { expression: 'SELECT * FROM S3Object', input, range: { end: 3 } })).toBe('c\n');
  });

  it('knows the header of the object', async () => {
    const result = await select(people, {
      expression: 'SELECT name FROM S3Object WHERE age > 50',
      range: { start: 20 },
    });
    expect(result).toBe('Grace\n');
  });
});

describe('the limits', () => {
  const expression = 'SELECT * FROM S3Object';
  it.each([
    ['a record of CSV', csvInput, 'x'.repeat(1_100_000)],
    [
      'a record of CSV in quotes',
      { ...csvInput, csv: { ...csvInput.csv, quotedDelimiters: true } },
      `"${'x\n'.repeat(600_000)}"`,
    ],
    ['a line of JSON', jsonLines, `"${'x'.repeat(1_100_000)}"`],
    ['a JSON value', jsonDocument, `["${'x'.repeat(1_100_000)}"]`],
  ] as const)('refuse %s above 1 MiB', async (_name, input, text) => {
    expect(await codeOf(select(text, { expression, input }))).toBe('OverMaxRecordSize');
  });

  it('refuse text that is not UTF-8', async () => {
    expect(await codeOf(select(Buffer.from([0x61, 0xff, 0x0a]), { expression }))).toBe('InvalidTextEncoding');
  });
});

describe('hostile sources', () => {
  const inputs = [
    csvInput,
    { ...csvInput, csv: { ...csvInput.csv, quotedDelimiters: true, escape: '\\' } },
    { ...csvInput, compression: 'GZIP' },
    { ...csvInput, compression: 'ZSTD' },
    { ...csvInput, compression: 'BZIP2' },
    jsonLines,
    jsonDocument,
    { kind: 'parquet' },
  ] as const satisfies readonly SelectRequest['input'][];

  it('end with a result or an S3 error', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string({ unit: fc.constantFrom('"', ',', '\n', '\\', 'a', '[', ']', '{', '}', ':', '1', ' ', '#', '\r') }),
    );
    await fc.assert(
      fc.asyncProperty(
        bytes,
        fc.constantFrom(...inputs),
        fc.integer({ min: 1, max: 50 }),
        async (data, input, chunk) => {
          const expression = input.kind === 'csv' ? 'SELECT * FROM S3Object' : 'SELECT s.a, s FROM S3Object[*] s';
          const code = await codeOf(select(Buffer.from(data as Uint8Array), { expression, input }, chunk));
          expect(code).not.toMatch(/Error: (?!\w+$)|TypeError|RangeError/);
        },
      ),
    );
  });

  it('are split the same in chunks of any size', async () => {
    const text = fc.string({ unit: fc.constantFrom('"', ',', '\n', 'a', 'ä', '😀', '\r', '""', '"a"') });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 20 }), async (data, chunk) => {
        const request = {
          expression: 'SELECT * FROM S3Object',
          input: { ...csvInput, csv: { ...csvInput.csv, header: 'NONE' as const, quotedDelimiters: true } },
          output: { ...csvOutput, alwaysQuotes: true },
        };
        const whole = await select(data, request).catch(String);
        expect(await select(data, request, chunk).catch(String)).toBe(whole);
      }),
    );
  });
});
