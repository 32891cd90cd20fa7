import { gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { parquetFile } from '../../test/support/select/parquet-file.ts';
import { csvInput, jsonDocument, jsonLines, jsonOutput, select } from '../../test/support/select/select-test.ts';
import type { SelectInput } from './select-request.ts';

/** Returns the code of an error of S3; any other error fails the test. */
async function codeOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
    return 'none';
  } catch (error) {
    // An error after the first records is a message of the stream, whose code the error has.
    if (error instanceof S3Error) return error.code;
    if (error instanceof Error && error.constructor === Error && /^\w+$/.test(error.message)) return error.message;
    throw error;
  }
}

const csv = 'a,b,c\n1,text,2020-01-02T03:04:05Z\n-2.5,,x\n"q,""x",ünï😀,1e400\n99999999999999999999,%_,\n';
const json = `{"a":1,"b":"text","c":{"d":[1,null,{"e":true}]}}\n{"a":null,"b":2.5e3,"c":[]}\n{"a":"2020T","b":-0,"c":false}\n`;
const sources: readonly (readonly [input: SelectInput, text: string])[] = [
  [csvInput, csv],
  [jsonLines, json],
  [jsonDocument, `[${json.trim().replaceAll('\n', ',')}]`],
];

/** Texts of a template, in which each `#` is replaced. */
function form(template: string, ...operands: fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc.tuple(...operands).map((texts) => texts.reduce((text, one) => text.replace('#', () => one), template));
}

const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const inner = tie('expression');
  const part = fc.constantFrom('year', 'month', 'day', 'hour', 'minute', 'second');
  const zonePart = fc.constantFrom('timezone_hour', 'timezone_minute');
  const type = fc.constantFrom('INT', 'FLOAT', 'DECIMAL(5,2)', 'DECIMAL', 'BOOL', 'STRING', 'TIMESTAMP');
  const operator = fc.constantFrom(
    '+',
    '-',
    '*',
    '/',
    '%',
    '||',
    '=',
    '<>',
    '<',
    '>=',
    'AND',
    'OR',
    'LIKE',
    'NOT LIKE',
  );
  const leaf = fc.oneof(
    fc.constantFrom('s.a', 's.b', 's._3', 's."c"', 's.c.d[1]', 's.c[0]', 's.none', 'b', 'NULL', 'MISSING', 'TRUE'),
    fc.constantFrom('0', '-1', '9223372036854775807', '1e308', '2.5', '`2024-02-29T23:59:59.999+05:30`', '`2007T`'),
    fc.string({ unit: fc.constantFrom('a', '%', '_', '\\', '😀', ' ', '-', '1') }).map((text) => `'${text}'`),
  );
  return {
    expression: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      form('(# # #)', inner, operator, inner),
      form('(NOT #)', inner),
      form('(- #)', inner),
      form('# IS NOT NULL', inner),
      form('# BETWEEN # AND #', inner, inner, inner),
      form('# IN (#, #)', inner, inner, inner),
      form("# LIKE # ESCAPE '\\'", inner, inner),
      form('CASE WHEN # THEN # ELSE # END', inner, inner, inner),
      form('CASE # WHEN # THEN # END', inner, inner, inner),
      form('CAST(# AS #)', inner, type),
      form('COALESCE(#, #)', inner, inner),
      form('NULLIF(#, #)', inner, inner),
      form('SUBSTRING(#, #, #)', inner, inner, inner),
      form('TRIM(LEADING # FROM #)', inner, inner),
      form('UPPER(#)', inner),
      form('CHAR_LENGTH(#)', inner),
      form('EXTRACT(# FROM #)', fc.oneof(part, zonePart), inner),
      form('DATE_ADD(#, #, #)', part, inner, inner),
      form('DATE_DIFF(#, #, #)', part, inner, inner),
      form('TO_TIMESTAMP(#)', inner),
      form("TO_STRING(#, 'yyyy-MM-dd''T''HH:mm:ss.SSSXXX a h')", inner),
      form('TO_STRING(#, #)', inner, inner),
    ),
  };
});

describe('a query of any expressions', () => {
  it('ends with records or an S3 error', async () => {
    const aggregate = fc.constantFrom('COUNT(#)', 'SUM(#)', 'AVG(#)', 'MIN(#) + 1', 'MAX(#)', '#', '#', '#');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...sources),
        fc.tuple(aggregate, expression).map(([form, text]) => form.replace('#', () => text)),
        expression,
        fc.boolean(),
        async ([input, text], shown, where, toJson) => {
          const from = input.kind === 'json' && input.type === 'DOCUMENT' ? 'S3Object[*][*]' : 'S3Object';
          const sql = `SELECT ${shown} AS x FROM ${from} s WHERE ${where}`;
          const output = toJson ? { output: jsonOutput } : {};
          expect(await codeOf(select(text, { expression: sql, input, ...output }))).not.toBe('InternalError');
          expect(
            await codeOf(select(text, { expression: `SELECT ${shown} FROM ${from} s`, input, ...output })),
          ).not.toBe('InternalError');
        },
      ),
    );
  });
});

/** Two streams: one with many symbols, and one with a long run. */
function bzip2Streams(): Buffer {
  return Buffer.from(
    'QlpoMTFBWSZTWbmVZE4AAD/YAAAQAAR/4DABGQCKfkTMihA0DQKn7UQfqiaq+834DvZuB5UM0qA5cICqF0qAulCr3uciSLWjkSRJc0IBiMQBkMMgec4WGe2r1Lpe2jK2ldm+1z682OJIFnBIsUJARC3y40t8pDAosRPwkEBEg29tMH2aHZYiYEiDHH4x6Vz0aseVSEOEaEThoRMWcd8u457EZhwzBAwmTB+EZ5XnGnV5KQIQjwt+7u6rldusUFJyTGneyezq5Pw9J+IjyneyNq3qcEmCIX4u5IpwoSFzKsicQlpoMTFBWSZTWdXd9MQAAC1BoIAQP///8ACAAAggAEjP/VUABoABoElIDJpoyDEaIxTTqFKpWsWrl7BBiyZtGrZu4cunb4gpYBFkxJHyYCPxdyRThQkNXd9MQA==',
    'base64',
  );
}

describe('a damaged compressed source', () => {
  const rows = Buffer.from(Array.from({ length: 400 }, (_, at) => `${at},${(at * 7_919) % 1_009}\n`).join(''));
  const compressed = [
    ['GZIP', gzipSync(rows)],
    ['GZIP', Buffer.concat([gzipSync(rows), gzipSync(rows)])],
    ['ZSTD', zstdCompressSync(rows)],
    ['BZIP2', bzip2Streams()],
  ] as const;

  it('ends with records or an S3 error', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...compressed),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        fc.option(fc.nat()),
        fc.integer({ min: 16, max: 2_000 }),
        async ([compression, whole], changes, cut, chunk) => {
          const bytes = Buffer.from(whole.subarray(0, cut === null ? whole.length : cut % whole.length));
          for (const [at, value] of changes) if (bytes.length > 0) bytes[at % bytes.length] = value;
          const input = { ...csvInput, compression };
          const code = await codeOf(select(bytes, { expression: 'SELECT COUNT(*) FROM S3Object', input }, chunk));
          expect([
            'none',
            'InvalidCompressionFormat',
            'TruncatedInput',
            'OverMaxRecordSize',
            'InvalidTextEncoding',
            // A frame of zstd may have no checksum, so that damage appears in the text.
            'CSVUnescapedQuote',
          ]).toContain(code);
        },
      ),
    );
  });
});

describe('a source that expands', () => {
  const small = { processorMs: 300_000, decompressedBytes: 64 * 1_024 };
  const lines = Buffer.alloc(1_024 * 1_024, '\n');

  it.each([
    ['GZIP', gzipSync(lines)],
    ['GZIP', Buffer.concat(Array.from({ length: 64 }, () => gzipSync(lines.subarray(0, 16 * 1_024))))],
    ['ZSTD', zstdCompressSync(lines)],
    ['BZIP2', Buffer.concat(Array.from({ length: 200 }, bzip2Streams))],
  ] as const)('ends at the bytes that a query may read: %s', async (compression, bytes) => {
    const input = { ...csvInput, compression };
    const asked = { expression: 'SELECT COUNT(*) FROM S3Object', input };
    expect(await codeOf(select(bytes, asked, undefined, small))).toBe('OverMaxDecompressedSize');
    expect(await codeOf(select(bytes, asked))).toBe('none');
  });

  it('may have any size where it is not compressed', async () => {
    const asked = { expression: 'SELECT COUNT(*) FROM S3Object', input: csvInput };
    expect(await codeOf(select(lines, asked, undefined, small))).toBe('none');
  });
});

function nested(levels: number): string {
  return `${'['.repeat(levels)}${']'.repeat(levels)}`;
}

function objects(levels: number): string {
  return `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
}

describe('a query that computes', () => {
  it('ends when it used its processor time, with records or without', async () => {
    let used = 0;
    const processorMs = () => (used += 1);
    const budget = { processorMs: 20, decompressedBytes: 2 ** 30 };
    const many = Buffer.from('a\n'.repeat(100_000));
    for (const expression of ['SELECT COUNT(*) FROM S3Object', "SELECT * FROM S3Object s WHERE s.a = 'x'"]) {
      used = 0;
      expect(await codeOf(select(many, { expression }, undefined, budget, processorMs))).toBe('OverMaxProcessorTime');
    }
  });

  it.each([
    ['arrays', '['.repeat(200_000)],
    ['objects', '{"a":'.repeat(200_000)],
    ['arrays that end', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
  ])('ends with an error of S3 for JSON that is nested deeply: %s', async (_, text) => {
    for (const input of [jsonLines, jsonDocument]) {
      const code = await codeOf(select(text, { expression: 'SELECT * FROM S3Object', input, output: jsonOutput }));
      expect(code).toBe('JSONParsingError');
    }
  });

  it('takes JSON of 1,000 levels, and names the limit for more', async () => {
    for (const input of [jsonLines, jsonDocument]) {
      const asked = { expression: 'SELECT * FROM S3Object', input, output: jsonOutput };
      expect(await select(objects(1_000), asked)).toBe(`${objects(1_000)}\n`);
      expect(await select(`{"a":[{}],"b":${nested(999)}}`, asked)).toContain(nested(999));
      for (const text of [objects(1_001), nested(1_001), `{"a":${nested(1_000)}}`]) {
        await expect(select(text, asked)).rejects.toMatchObject({
          code: 'JSONParsingError',
          message: 'A JSON value is nested more deeply than 1000 levels.',
        });
      }
    }
  });

  it('matches a pattern of LIKE without going back more than once for each character', async () => {
    const pattern = '%a'.repeat(500);
    const text = `b\n${'a'.repeat(20_000)}b\n`;
    const expression = `SELECT COUNT(*) FROM S3Object s WHERE s.b LIKE '${pattern}c'`;
    expect(await codeOf(select(text, { expression }))).toBe('none');
  });
});

const allOfParquet = { expression: 'SELECT * FROM S3Object', input: { kind: 'parquet' } } as const;

describe('a damaged Parquet file', () => {
  const columnData = [{ name: 'price', data: [1, 2], type: 'INT32' as const }];
  const whole = Buffer.from(parquetWriteBuffer({ columnData }));

  it('is refused where its schema names more columns than it has', async () => {
    const bytes = Buffer.from(whole);
    const children = bytes.indexOf('root') + 5;
    expect(bytes[children]).toBe(2);
    expect(await codeOf(select(bytes, allOfParquet))).toBe('none');
    bytes[children] = 20;
    expect(await codeOf(select(bytes, allOfParquet))).toBe('ParquetParsingError');
  });
});

const zeros = (values: number) => Buffer.alloc(4 * values);
const data = (values: number, named = values) =>
  ({ type: 'DATA_PAGE', encoding: 'PLAIN', values: named, bytes: zeros(values) }) as const;

describe('a Parquet file that expands', () => {
  const counting = { ...allOfParquet, expression: 'SELECT COUNT(*) FROM S3Object' };
  const small = { processorMs: 300_000, decompressedBytes: 2 ** 20 };

  it('ends at the bytes that a query may read: row groups that share a page', async () => {
    const file = parquetFile({ pages: [data(1_000)], rows: 1_000, groups: 1_000 });
    expect(file.length).toBeLessThan(100_000);
    expect(await codeOf(select(file, counting, undefined, small))).toBe('OverMaxDecompressedSize');
    expect(await codeOf(select(file, counting))).toBe('none');
  });

  it('ends at the bytes that a query may read: a dictionary that each slice of the rows needs again', async () => {
    const dictionary = { type: 'DICTIONARY_PAGE', encoding: 'PLAIN', values: 65_536, bytes: zeros(65_536) } as const;
    // A byte for the width of an index, the length of a run, and the index that it repeats.
    const run = Buffer.from([1, 0x80, 0x80, 0x80, 0x02, 0]);
    const all = { type: 'DATA_PAGE', encoding: 'RLE_DICTIONARY', values: 2_097_152, bytes: run } as const;
    const file = parquetFile({ pages: [dictionary, all], rows: 2_097_152, groups: 1 });
    expect(file.length).toBeLessThan(1_000);
    expect(await codeOf(select(file, counting, undefined, small))).toBe('OverMaxDecompressedSize');
    expect(await codeOf(select(file, counting))).toBe('none');
  });

  it('is refused where the pages of a group expand to more than its metadata says', async () => {
    const pages = Array.from({ length: 40 }, () => data(2_000_000, 0));
    expect(await codeOf(select(parquetFile({ pages, rows: 1, groups: 1 }), counting))).toBe('OverMaxParquetBlockSize');
  });

  it('ends when it used its processor time', async () => {
    let used = 0;
    const processorMs = () => (used += 1);
    const file = parquetFile({ pages: [data(1)], rows: 1, groups: 100 });
    const budget = { ...small, processorMs: 20 };
    expect(await codeOf(select(file, counting, undefined, budget, processorMs))).toBe('OverMaxProcessorTime');
  });

  it('is not read where its row groups have no rows, which take no look at the budget', async () => {
    const damaged = { type: 'DATA_PAGE', encoding: 'PLAIN', values: 2 ** 24, bytes: zeros(1) } as const;
    const file = (rows: number) => parquetFile({ pages: [damaged], rows, groups: 100 });
    expect(await codeOf(select(file(1), counting))).toBe('OverMaxParquetBlockSize');
    expect(await codeOf(select(file(0), counting))).toBe('none');
  });

  it('is refused where a row group has fewer values than rows', async () => {
    const file = parquetFile({ pages: [data(1)], rows: 8_000_000, groups: 100 });
    expect(await codeOf(select(file, counting))).toBe('ParquetParsingError');
    const dictionary = { type: 'DICTIONARY_PAGE', encoding: 'PLAIN', values: 10, bytes: zeros(10) } as const;
    expect(await codeOf(select(parquetFile({ pages: [dictionary, data(1)], rows: 10, groups: 1 }), counting))).toBe(
      'ParquetParsingError',
    );
  });

  it('is refused where it has rows without a column', async () => {
    const file = parquetFile({ schema: [], rootChildren: 0, pages: [data(1)], rows: 8_000_000, groups: 1_000 });
    expect(await codeOf(select(file, counting))).toBe('ParquetParsingError');
  });

  it('is refused where its schema is nested more deeply than 100 levels', async () => {
    const depth = 4_000;
    const schema = Array.from({ length: depth }, (_, at) => [
      { name: 'a', repetition_type: 'OPTIONAL', num_children: 2 } as const,
      { name: 'b', repetition_type: 'OPTIONAL', type: at % 2 === 0 ? 'INT32' : 'DOUBLE' } as const,
    ]).flat();
    schema.push({ name: 'a', repetition_type: 'OPTIONAL', type: 'INT32' } as never);
    const path = Array.from({ length: depth + 1 }, () => 'a');
    const file = parquetFile({ schema, path, pages: [data(1)], rows: 1, groups: 1 });
    expect(await codeOf(select(file, allOfParquet))).toBe('OverMaxColumn');
  });
});
