import type { SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { csvInput, jsonDocument, jsonLines, jsonOutput, select } from '../../test/support/select/select-test.ts';
import type { SelectRequest } from './select-request.ts';

const all = 'SELECT * FROM S3Object';

async function codeOf(run: Promise<unknown>): Promise<string> {
  try {
    await run;
    return 'none';
  } catch (error) {
    return error instanceof S3Error ? error.code : String(error);
  }
}

function queryJson(text: string, expression: string, more: Partial<SelectRequest> = {}): Promise<string> {
  return select(text, { expression, input: jsonLines, output: jsonOutput, ...more });
}

describe('a record of JSON', () => {
  it.each([
    ['names that are numbers', '{"2020":1,"2019":2,"b":{"10":[{"2":1,"1":2}],"9":0},"a":3}'],
    ['__proto__ and constructor', '{"__proto__":{"__proto__":1},"constructor":2,"toString":3,"hasOwnProperty":4}'],
    ['a name that occurs twice', '{"a":1,"b":2,"a":3}'],
    ['names with escapes', '{"\\u0032":"ü\\n\\ud83d\\ude00","":"\\\\","\\"":"/"}'],
    ['integers beyond 64 bits', '{"a":12345678901234567890,"b":-98765432109876543210987654321}'],
    ['more digits than a double has', '{"a":0.1234567890123456789,"b":100000000000000000000.5}'],
    ['numbers beyond doubles', '{"a":1E+400,"b":-2.5E-400,"c":[1.7E+309]}'],
    ['doubles', '{"a":0.30000000000000004,"b":5e-324,"c":1.7976931348623157e+308,"d":2.5,"e":-0.25}'],
    ['empty values', '{"a":{},"b":[],"c":"","d":[null,[],{}]}'],
  ])('keeps %s', async (_name, record) => {
    const expected = `${record.replaceAll('\\u0032', '2').replace('\\ud83d\\ude00', '😀')}\n`;
    expect(await queryJson(record, all)).toBe(expected);
    expect(await queryJson(`[${record}]`, 'SELECT * FROM S3Object[*][*]', { input: jsonDocument })).toBe(expected);
    const listed = JSON.parse(expected) as object;
    if (expected.includes('E+') || expected.includes('123')) return;
    expect(JSON.parse(await queryJson(record, 'SELECT s AS r FROM S3Object s'))).toEqual({ r: listed });
  });

  it.each([
    ['s."__proto__".x', '{"__proto__":{"x":5}}', '5'],
    ['s."2019"', '{"2020":1,"2019":2}', '2'],
    ['s.a = 12345678901234567890', '{"a":12345678901234567890}', 'true'],
    ['s.a = 12345678901234567891', '{"a":12345678901234567890}', 'false'],
    ['s.a > 9223372036854775807', '{"a":9223372036854775808}', 'true'],
    ['s.a > s.b', '{"a":1e400,"b":1e399}', 'true'],
    ['s.a < s.b', '{"a":0.12345678901234568,"b":0.12345678901234568001}', 'true'],
    ['s.a = 0.1 AND s.b < 1e300', '{"a":0.1,"b":1e299}', 'true'],
    ['s.a IS NULL', '{"a":1e400}', 'false'],
    ['s.a + 0.1', '{"a":0.12345678901234567891}', '0.22345678901234567891'],
    ['1.10 + 2', '{}', '3.10'],
    ['0.1 + 0.2', '{}', '0.3'],
    ['1 / 3.0', '{}', '0.33333333333333333333333333333333333333'],
    ['7 / 2.0', '{}', '3.5'],
    ['-7.5 % 2', '{}', '-1.5'],
    ['99999999999999999999999999999999999999 * 10', '{}', '9.9999999999999999999999999999999999999E+38'],
    ["CAST('12345678901234567.89' AS DECIMAL(20, 2)) + 0.01", '{}', '12345678901234567.90'],
    ["CAST('-1.005' AS DECIMAL(10, 2))", '{}', '-1.01'],
    ['CAST(1 AS DECIMAL(5, 2))', '{}', '1.00'],
    ['CAST(-2.9 AS INT)', '{}', '-2'],
    ['CAST(s.a AS STRING)', '{"a":1e400}', '"1E+400"'],
    ["'\uff21' < '😀' AND 'a' < 'aa' AND 'ab' > 'aa'", '{}', 'true'],
    ['CAST(s.a AS FLOAT)', '{"a":0.1234567890123456789}', '0.12345678901234568'],
    ['s.a = 1234567890123456800', '{"a":1234567890123456800.0}', 'true'],
    ['s.a = 1234567890123456768', '{"a":1234567890123456800.0}', 'false'],
    ['CAST(s.a AS INT)', '{"a":1234567890123456800.0}', '1234567890123456800'],
    ['CAST(s.a AS INT) = s.a', '{"a":-1.2345678901234568e18}', 'true'],
    ['CAST(s.a AS INT)', '{"a":-2.9e0}', '-2'],
    ['CAST(s.a AS BOOL)', '{"a":1e-400}', 'true'],
    ['CAST(s.a AS BOOL)', '{"a":0.0}', 'false'],
  ])('has %s of %s', async (expression, record, expected) => {
    expect(await queryJson(record, `SELECT ${expression} AS v FROM S3Object s`)).toBe(`{"v":${expected}}\n`);
  });

  it.each([
    ['an exponent that no number has', '{"a":1e99999}', all, 'JSONParsingError'],
    ['a number of 401 digits', `{"a":1${'1'.repeat(400)}}`, all, 'JSONParsingError'],
    ['a name of two fields', '{"a":1,"a":2}', 'SELECT "a" FROM S3Object', 'AmbiguousFieldName'],
    ['a double that overflows', '{"a":1e308}', 'SELECT a * 1e10 FROM S3Object', 'EvaluatorInvalidArguments'],
    [
      'a product of a number beyond doubles',
      '{"a":1e400}',
      'SELECT a * 2e0 FROM S3Object',
      'EvaluatorInvalidArguments',
    ],
    [
      'a quotient of a number beyond doubles',
      '{"a":1e400}',
      'SELECT 2e0 / a FROM S3Object',
      'EvaluatorInvalidArguments',
    ],
    [
      'a sum with one beyond doubles',
      '{"a":2e0}\n{"a":1e400}',
      'SELECT SUM(a) FROM S3Object',
      'EvaluatorInvalidArguments',
    ],
    ['a cast beyond doubles', '{"a":1e400}', 'SELECT CAST(a AS FLOAT) FROM S3Object', 'CastFailed'],
    [
      'a decimal with more digits than its type',
      '{"a":123.4}',
      'SELECT CAST(a AS DECIMAL(3, 1)) FROM S3Object',
      'CastFailed',
    ],
    ['a sum beyond doubles', '{"a":1e308}\n{"a":1e308}', 'SELECT SUM(a) FROM S3Object', 'EvaluatorInvalidArguments'],
    ['a sum beyond 64 bits', '{"a":9223372036854775807}\n{"a":1}', 'SELECT SUM(a) FROM S3Object', 'IntegerOverflow'],
    ['an unfinished object', '{"a":1', all, 'JSONParsingError'],
    ['two values on a line', '{"a":1} 2', all, 'JSONParsingError'],
    ['a zero before a number', '{"a":01}', all, 'JSONParsingError'],
    ['a control character', '{"a":"\t"}', all, 'JSONParsingError'],
    ['an escape that does not exist', '{"a":"\\x"}', all, 'JSONParsingError'],
    ['a comma at the end', '{"a":[1,]}', all, 'JSONParsingError'],
  ])('refuses %s', async (_name, record, expression, code) => {
    expect(await codeOf(queryJson(record, expression))).toBe(code);
  });

  it('finds the last text by code points', async () => {
    const records = '{"a":"\\uff21"}\n{"a":"😀"}';
    expect(await queryJson(records, 'SELECT MAX(a) AS v FROM S3Object')).toBe('{"v":"😀"}\n');
  });

  it('finds the largest and the smallest number in any order of INT, FLOAT and DECIMAL', async () => {
    const [low, middle, high] = [
      '{"a":1234567890123456780}',
      '{"a":1234567890123456790.0}',
      '{"a":1.2345678901234568e18}',
    ];
    const orders = [
      [low, middle, high],
      [low, high, middle],
      [middle, low, high],
      [middle, high, low],
      [high, low, middle],
      [high, middle, low],
    ];
    for (const records of orders) {
      expect(await queryJson(records.join('\n'), 'SELECT MAX(a) AS high, MIN(a) AS low FROM S3Object')).toBe(
        '{"high":1234567890123456800,"low":1234567890123456780}\n',
      );
    }
  });

  it('has the exact average of integers beyond the digits of a FLOAT', async () => {
    const average = 'SELECT AVG(a) AS v FROM S3Object';
    expect(await queryJson('{"a":9007199254740993}', average)).toBe('{"v":9007199254740993}\n');
    expect(await queryJson('{"a":-9007199254740993}\n{"a":-9007199254740994}', average)).toBe(
      '{"v":-9007199254740993.5}\n',
    );
  });

  it('sums integers whose partial sums are beyond 64 bits', async () => {
    const records = '{"a":9223372036854775807}\n{"a":1}\n{"a":-2}';
    expect(await queryJson(records, 'SELECT SUM(a) AS v FROM S3Object')).toBe('{"v":9223372036854775806}\n');
  });
});

describe('a record of CSV', () => {
  it.each([
    ['a line of two quotes is a record', 'a\n""\n\n1\n', 'SELECT COUNT(*) FROM S3Object', '2\n'],
    ['a line of two quotes and CR is a record', 'a\r\n""\r\n\r\n1\r\n', 'SELECT COUNT(*) FROM S3Object', '2\n'],
    ['a long number is exact', 'a\n12345678901234567890\n', 'SELECT a + 1 FROM S3Object', '12345678901234567891\n'],
    ['a number beyond doubles is not null', 'a\n1e400\n', 'SELECT a + 0 FROM S3Object', '1E+400\n'],
    ['numbers with a point are decimals', 'a\n0.1\n0.2\n', 'SELECT SUM(a), AVG(a) FROM S3Object', '0.3,0.15\n'],
    ['17 digits are compared', 'a\n0.12345678901234567\n', 'SELECT a FROM S3Object WHERE a = 0.12345678901234568', ''],
    ['columns keep their places', '2020,2019\n1,2\n', all, '1,2\n'],
  ])('%s', async (_name, text, expression, expected) => {
    for (const quotedDelimiters of [false, true]) {
      const input = { ...csvInput, csv: { ...csvInput.csv, quotedDelimiters } };
      expect(await select(text, { expression, input })).toBe(expected);
    }
  });

  describe('with a text that has the form of a number beyond all numbers', () => {
    const texts = ['12e99999', `1${'1'.repeat(400)}`, '1'.repeat(10_000), `${'0'.repeat(10_000)}7`];

    it.each([
      ['a = 7', '0\n'],
      ['7 = a', '0\n'],
      ['a <> 7', '4\n'],
      ['a IN (6, 7)', '0\n'],
      ["a IN (7, '12e99999')", '1\n'],
      ['a NOT IN (6, 7)', '4\n'],
      ['NULLIF(a, 7) IS NOT NULL', '4\n'],
      ["CASE a WHEN 7 THEN 1 WHEN '12e99999' THEN 2 ELSE 3 END > 2", '3\n'],
    ])('it is equal to no number: %s', async (where, expected) => {
      const expression = `SELECT COUNT(*) FROM S3Object WHERE ${where}`;
      expect(await select(`a\n${texts.join('\n')}\n`, { expression })).toBe(expected);
    });

    it.each([
      'COUNT(*) FROM S3Object WHERE a < 7',
      'a + 1 FROM S3Object',
      'SUM(a) FROM S3Object',
      'MAX(a) FROM S3Object',
    ])('it is refused by SELECT %s', async (expression) => {
      for (const text of texts) {
        expect(await codeOf(select(`a\n${text}\n`, { expression: `SELECT ${expression}` }))).toBe('InvalidDataType');
      }
    });
  });

  it.each([
    ['at the end of a fraction', `0.5${'0'.repeat(500)}`, 'a = 0.5'],
    ['at the end of a whole number', `1${'0'.repeat(500)}`, 'a = 1e500'],
    ['at the end of a number with an exponent', `-25${'0'.repeat(500)}e-500`, 'a = -25'],
    ['at the beginning', `${'0'.repeat(500)}7`, 'a = 7'],
  ])('counts no digits for zeros %s', async (_name, text, where) => {
    const expression = `SELECT COUNT(*) FROM S3Object WHERE ${where}`;
    expect(await select(`a\n${text}\n`, { expression })).toBe('1\n');
  });

  it.each([' 07 ', '7.0', '.7e1', 'x', '', '12e99999', '-7', '8'])(
    'finds the number of %j by IN as by =',
    async (text) => {
      const expression = "SELECT a IN (7), a = 7, a IN ('x', 7, -7), a = 'x' OR a = 7 OR a = -7 FROM S3Object";
      const [one, other, three, others] = (await select(`a,b\n${text},\n`, { expression })).trim().split(',');
      expect([one, three]).toEqual([other, others]);
    },
  );

  it('has names that are numbers and __proto__ in JSON', async () => {
    const record = '{"2020":"1","__proto__":"2","2019":"3"}\n';
    expect(await select('2020,__proto__,2019\n1,2,3\n', { expression: all, output: jsonOutput })).toBe(record);
  });

  it('refuses the name of two columns', async () => {
    expect(await codeOf(select('a,a\n1,2\n', { expression: 'SELECT "a" FROM S3Object' }))).toBe('AmbiguousFieldName');
  });
});

interface Column {
  readonly element: SchemaElement;
  readonly data: unknown[];
}

function parquetOf(...columns: Column[]): Buffer {
  const schema = [{ name: 'root', num_children: columns.length }, ...columns.map(({ element }) => element)];
  const columnData = columns.map(({ element, data }) => ({ name: element.name, data }));
  return Buffer.from(parquetWriteBuffer({ columnData, schema }));
}

function column(name: string, data: unknown[], element: Partial<SchemaElement>): Column {
  return { element: { name, repetition_type: 'OPTIONAL', ...element }, data };
}

const int32 = { type: 'INT32' } as const;

function queryParquet(file: Buffer, expression: string, output: SelectRequest['output'] = jsonOutput): Promise<string> {
  return select(file, { expression, input: { kind: 'parquet' }, output });
}

function millis(text: string): bigint {
  return BigInt(Date.parse(text));
}

describe('a record of Parquet', () => {
  it('keeps the order and the names of its columns', async () => {
    const names = ['2020', '2019', '__proto__', 'a.b', 'constructor', '0'];
    const file = parquetOf(...names.map((name, at) => column(name, [at, at + 10], int32)));
    const records = [0, 10].map((add) => `{${names.map((name, at) => `"${name}":${at + add}`).join(',')}}\n`);
    expect(await queryParquet(file, all)).toBe(records.join(''));
    expect(await queryParquet(file, 'SELECT s."__proto__", s."2019", s."a.b" FROM S3Object s LIMIT 1')).toBe(
      '{"__proto__":2,"2019":1,"a.b":3}\n',
    );
  });

  it('keeps binary values, which differ where their bytes do', async () => {
    const bytes = [Buffer.from([0xff]), Buffer.from([0xfe]), Buffer.from('text'), null];
    const file = parquetOf(column('a', bytes, { type: 'BYTE_ARRAY' }));
    expect(await queryParquet(file, all)).toBe('{"a":"/w=="}\n{"a":"/g=="}\n{"a":"dGV4dA=="}\n{"a":null}\n');
    expect(await queryParquet(file, 'SELECT COUNT(*) AS n FROM S3Object s WHERE s.a = s.a')).toBe('{"n":3}\n');
    expect(await queryParquet(file, 'SELECT MIN(a) AS low, MAX(a) AS high FROM S3Object s')).toBe(
      '{"low":"dGV4dA==","high":"/w=="}\n',
    );
    const text =
      "SELECT s.a FROM S3Object s WHERE CASE WHEN s.a IS NULL THEN NULL ELSE CAST(s.a AS STRING) END = 'text'";
    expect(await codeOf(queryParquet(file, text))).toBe('CastFailed');
    const fixed = parquetOf(column('a', [Buffer.from([1, 2])], { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 2 }));
    expect(await queryParquet(fixed, all)).toBe('{"a":"AQI="}\n');
  });

  it('compares bytes without a type with a text by the bytes of UTF-8', async () => {
    const bytes = [Buffer.from('x'), Buffer.from('ü😀'), Buffer.from(''), Buffer.from([0xff])];
    const file = parquetOf(column('a', bytes, { type: 'BYTE_ARRAY' }));
    const count = (where: string) => queryParquet(file, `SELECT COUNT(*) AS n FROM S3Object s WHERE ${where}`);
    const counts: Record<string, number> = {
      "s.a = 'x'": 1,
      "'x' = s.a": 1,
      "s.a = 'ü😀'": 1,
      "s.a = ''": 1,
      "s.a = '/w=='": 0,
      "s.a <> 'x'": 3,
      "s.a > 'x'": 2,
      "'x' >= s.a": 2,
      "s.a IN ('x', 'ü😀')": 2,
      "NULLIF(s.a, 'x') IS NULL": 1,
      "CASE s.a WHEN 'x' THEN 1 ELSE 0 END = 1": 1,
      's.a = 1': 0,
    };
    for (const [where, n] of Object.entries(counts)) {
      expect([where, await count(where)]).toEqual([where, `{"n":${n}}\n`]);
    }
  });

  it('takes no text for bytes that stand for a part of a character', async () => {
    const file = parquetOf(
      column('a', [Buffer.from('\ufffd')], { type: 'BYTE_ARRAY' }),
      column('j', [Buffer.from('"\\ud800"')], { type: 'BYTE_ARRAY', converted_type: 'JSON' }),
    );
    expect(await queryParquet(file, 'SELECT a = j AS v FROM S3Object')).toBe('{"v":false}\n');
  });

  it('matches bytes without a type by LIKE where they are UTF-8', async () => {
    const file = parquetOf(column('a', [Buffer.from('tüxt'), Buffer.from('other')], { type: 'BYTE_ARRAY' }));
    expect(await queryParquet(file, "SELECT COUNT(*) AS n FROM S3Object s WHERE s.a LIKE 't_xt'")).toBe('{"n":1}\n');
    const invalid = parquetOf(column('a', [Buffer.from([0xff])], { type: 'BYTE_ARRAY' }));
    const query = "SELECT COUNT(*) AS n FROM S3Object s WHERE s.a LIKE '%'";
    expect(await codeOf(queryParquet(invalid, query))).toBe('LikeInvalidInputs');
  });

  it('refuses a text that is not UTF-8', async () => {
    const file = parquetOf(column('a', [Buffer.from([0xff])], { type: 'BYTE_ARRAY', converted_type: 'UTF8' }));
    expect(await codeOf(queryParquet(file, all))).toBe('InvalidTextEncoding');
  });

  it('shows 32 bits of a number as 32 bits', async () => {
    const floats = [0.1, 16_777_216, 3.402_823_466_385_288_6e38, 1.401_298_464_324_817e-45, -2.5, 1e-7].map(
      Math.fround,
    );
    const file = parquetOf(column('a', floats, { type: 'FLOAT' }));
    expect(await queryParquet(file, all, { kind: 'json', recordDelimiter: ' ' })).toBe(
      '{"a":0.1} {"a":16777216} {"a":3.4028235e+38} {"a":1e-45} {"a":-2.5} {"a":1e-7} ',
    );
    expect(await queryParquet(file, 'SELECT MIN(a) AS low, COUNT(*) AS n FROM S3Object WHERE a = 0.1')).toBe(
      '{"low":0.1,"n":1}\n',
    );
    expect(await queryParquet(file, 'SELECT CAST(a AS STRING) AS v FROM S3Object LIMIT 1')).toBe('{"v":"0.1"}\n');
  });

  it('has no number beside infinity', async () => {
    const file = parquetOf(column('a', [Infinity], { type: 'FLOAT' }), column('b', [-Infinity], { type: 'DOUBLE' }));
    const digits = `1${'0'.repeat(39)}.0`;
    expect(await queryParquet(file, `SELECT a = ${digits} AS v, a > 1e400 AS w, b < -1e400 AS x FROM S3Object`)).toBe(
      '{"v":false,"w":true,"x":true}\n',
    );
    const finite = parquetOf(column('a', [1], { type: 'FLOAT' }));
    expect(await queryParquet(finite, `SELECT a < ${digits} AS v FROM S3Object`)).toBe('{"v":true}\n');
  });

  it('calculates with infinity', async () => {
    const file = parquetOf(column('a', [Infinity], { type: 'DOUBLE' }));
    expect(await select(file, { expression: 'SELECT a * 2 FROM S3Object', input: { kind: 'parquet' } })).toBe(
      'Infinity\n',
    );
  });

  it('refuses NaN in JSON, which has no such number', async () => {
    const file = parquetOf(column('a', [NaN, Infinity], { type: 'DOUBLE' }));
    expect(await codeOf(queryParquet(file, all))).toBe('InvalidDataType');
    expect(await select(file, { expression: all, input: { kind: 'parquet' } })).toBe('NaN\nInfinity\n');
  });

  it('has times of the day', async () => {
    const file = parquetOf(
      column('ms', [45_296_789, 0], { ...int32, converted_type: 'TIME_MILLIS' }),
      column('us', [86_399_999_999n, 1n], { type: 'INT64', converted_type: 'TIME_MICROS' }),
      column('ns', [1n, 3_600_000_000_000n], {
        type: 'INT64',
        logical_type: { type: 'TIME', isAdjustedToUTC: true, unit: 'NANOS' },
      }),
    );
    expect(await queryParquet(file, all)).toBe(
      '{"ms":"12:34:56.789","us":"23:59:59.999999","ns":"00:00:00.000000001"}\n' +
        '{"ms":"00:00:00.000","us":"00:00:00.000001","ns":"01:00:00.000000000"}\n',
    );
    expect(await queryParquet(file, "SELECT COUNT(*) AS n FROM S3Object s WHERE s.ms > '12:00:00'")).toBe('{"n":1}\n');
    const wrong = parquetOf(column('ms', [86_400_000], { ...int32, converted_type: 'TIME_MILLIS' }));
    expect(await codeOf(queryParquet(wrong, all))).toBe('ParquetParsingError');
  });

  it('has timestamps of the years 1 to 9999, and refuses others', async () => {
    const timestamps = (...data: bigint[]) =>
      parquetOf(column('t', data, { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }));
    const edges = timestamps(millis('0001-01-01T00:00:00.000Z'), millis('9999-12-31T23:59:59.999Z'));
    expect(await queryParquet(edges, all)).toBe('{"t":"0001-01-01T00:00:00.000Z"}\n{"t":"9999-12-31T23:59:59.999Z"}\n');
    for (const outside of ['0000-12-31T23:59:59.999Z', '-000001-06-01T00:00:00.000Z', '+010000-01-01T00:00:00.000Z']) {
      expect(await codeOf(queryParquet(timestamps(millis(outside)), all))).toBe('EvaluatorInvalidArguments');
    }
    const dates = parquetOf(column('d', [-719_163], { ...int32, converted_type: 'DATE' }));
    expect(await codeOf(queryParquet(dates, all))).toBe('EvaluatorInvalidArguments');
    expect(await queryParquet(dates, 'SELECT COUNT(*) AS n FROM S3Object')).toBe('{"n":1}\n');
  });

  it('has exact decimals', async () => {
    const decimal = { converted_type: 'DECIMAL', scale: 2, precision: 38 } as const;
    const long = 12_345_678_901_234_567_890_123_456_789_012_345_678n;
    const file = parquetOf(
      column('a', [110n, -5n], { type: 'INT64', ...decimal, precision: 18 }),
      column('b', [long, 1n], { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, ...decimal }),
    );
    const shown = '123456789012345678901234567890123456.78';
    expect(await queryParquet(file, all)).toBe(`{"a":1.10,"b":${shown}}\n{"a":-0.05,"b":0.01}\n`);
    expect(await queryParquet(file, 'SELECT SUM(a) AS s, MAX(b) AS m FROM S3Object')).toBe(`{"s":1.05,"m":${shown}}\n`);
    expect(await queryParquet(file, `SELECT COUNT(*) AS n FROM S3Object WHERE b = ${shown.slice(0, -1)}9`)).toBe(
      '{"n":0}\n',
    );
    expect(await queryParquet(file, 'SELECT a * 3 AS v FROM S3Object WHERE a = 1.1')).toBe('{"v":3.30}\n');
  });

  it('has unsigned integers', async () => {
    const file = parquetOf(
      column('a', [4_294_967_295], { ...int32, converted_type: 'UINT_32' }),
      column('b', [18_446_744_073_709_551_615n], { type: 'INT64', converted_type: 'UINT_64' }),
    );
    expect(await queryParquet(file, all)).toBe('{"a":4294967295,"b":18446744073709551615}\n');
  });
});
