import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { jsonLines, jsonOutput, select } from '../../../test/support/select/select-test.ts';
import { matchesLike, parseLike } from './like.ts';

const record = JSON.stringify({
  i: 7,
  f: 2.5,
  t: 'Aé😀b',
  n: null,
  b: true,
  items: [1, 2],
  born: '2010-01-31',
});

async function valueOf(expression: string): Promise<string> {
  const request = { expression: `SELECT ${expression} AS v FROM S3Object`, input: jsonLines, output: jsonOutput };
  const result = await select(record, request);
  return /^\{(?:"v":(.*))?\}\n$/.exec(result)?.[1] ?? 'MISSING';
}

describe('a value', () => {
  it.each([
    ['i / 2', '3'],
    ['i % 4', '3'],
    ['i / 2.0', '3.5'],
    ['-i * f', '-17.5'],
    ['i + n', 'null'],
    ['i = 7 AND n IS NULL', 'true'],
    ['n = 1 OR b', 'true'],
    ['n = 1 AND b', 'null'],
    ['NOT n = 1', 'null'],
    ["i = '7'", 'false'],
    ["i <> 'x'", 'true'],
    ['absent IS MISSING', 'true'],
    ['absent IS NULL', 'true'],
    ['n IS NOT MISSING', 'true'],
    ['absent', 'MISSING'],
    ['items[1]', '2'],
    ['items[5]', 'MISSING'],
    ["t || '!'", '"Aé😀b!"'],
    ['3 IN (1, 2, NULL)', 'null'],
    ['3 NOT IN (1, 2)', 'true'],
    ['i BETWEEN 7 AND 8', 'true'],
    ['COALESCE(n, absent, i)', '7'],
    ['NULLIF(i, 7)', 'null'],
    ['NULLIF(i, 8)', '7'],
    ['CHAR_LENGTH(t)', '4'],
    ['CHARACTER_LENGTH(t)', '4'],
    ['UPPER(t)', '"AÉ😀B"'],
    ["LOWER('ABC')", '"abc"'],
    ['SUBSTRING(t, 2, 2)', '"é😀"'],
    ['SUBSTRING(t FROM 3)', '"😀b"'],
    ["SUBSTRING('123456789', 0)", '"123456789"'],
    ["SUBSTRING('123456789', -1, 4)", '"12"'],
    ["TRIM('  x ')", '"x"'],
    ["TRIM(LEADING FROM '  x ')", '"x "'],
    ["TRIM(TRAILING '12' FROM '1x21')", '"1x"'],
    ["TRIM(BOTH '12' FROM '1112211foobar22211122')", '"foobar"'],
    ["CAST('12' AS INT) + 1", '13'],
    ["CAST('true' AS BOOL)", 'true'],
    ['CAST(f AS INT)', '2'],
    ['CAST(b AS INT)', '1'],
    ["CAST('1.25' AS DECIMAL(5, 1))", '1.3'],
    ['CAST(i AS STRING)', '"7"'],
    ['CAST(n AS INT)', 'null'],
    ["CASE i WHEN 6 THEN 'six' WHEN 7 THEN 'seven' END", '"seven"'],
    ["CASE WHEN i > 8 THEN 'large' END", 'null'],
    ["TO_TIMESTAMP('2007T')", '"2007T"'],
    ["TO_TIMESTAMP('2007-02-23T12:14:33.079-08:00')", '"2007-02-23T12:14:33.079-08:00"'],
    ['DATE_ADD(month, 1, CAST(born AS TIMESTAMP))', '"2010-02-28T"'],
    ['DATE_ADD(year, 5, `2010-01-01T`)', '"2015-01-01T"'],
    ['DATE_ADD(hour, -1, `2017-01-02T03:04:05.006Z`)', '"2017-01-02T02:04:05.006Z"'],
    ['DATE_DIFF(year, `2010T`, `2010-05T`)', '0'],
    ['DATE_DIFF(month, `2010T`, `2011T`)', '12'],
    ['DATE_DIFF(month, `2011T`, `2010T`)', '-12'],
    ['DATE_DIFF(day, `2010-01-01T23:00Z`, `2010-01-02T01:00Z`)', '0'],
    ['EXTRACT(YEAR FROM `2010-01-01T`)', '2010'],
    ['EXTRACT(timezone_minute FROM `2017-01-02T03:04:05+07:08`)', '8'],
    ["TO_STRING(`1969-07-20T20:18Z`, 'MMMM d, y')", '"July 20, 1969"'],
    ["TO_STRING(`1969-07-20T20:18Z`, 'MMM d, yyyy h:mm a')", '"Jul 20, 1969 8:18 PM"'],
    ["TO_STRING(`1969-07-20T20:18:13.5+08:00`, 'y-MM-dd''T''H:m:ss.SSSX')", '"1969-07-20T20:18:13.500+08"'],
    ['UTCNOW()', '"2026-01-02T03:04:05.006Z"'],
    ['`2017-01-01T00:00Z` = `2017-01-01T01:00+01:00`', 'true'],
    ["'a_c' LIKE 'a!_c' ESCAPE '!'", 'true'],
    ["'abc' LIKE 'a!_c' ESCAPE '!'", 'false'],
    ["t LIKE 'A__b'", 'true'],
  ])('of %s is %s', async (expression, expected) => {
    expect(await valueOf(expression)).toBe(expected);
  });

  it.each([
    ['9223372036854775807 + 1', 'IntegerOverflow'],
    ['i / 0', 'EvaluatorInvalidArguments'],
    ['t + 1', 'InvalidDataType'],
    ['i AND b', 'InvalidDataType'],
    ['UPPER(i)', 'EvaluatorInvalidArguments'],
    ['SUBSTRING(t, 1, -1)', 'EvaluatorInvalidArguments'],
    ["CAST('1.5' AS INT)", 'CastFailed'],
    ["TO_TIMESTAMP('2007-02-30')", 'ValueParseFailure'],
    ["TO_STRING(`2007T`, 'Q')", 'EvaluatorInvalidTimestampFormatPattern'],
    ['DATE_ADD(year, 99999, `2010T`)', 'EvaluatorInvalidArguments'],
    ["'a' LIKE 'a!' ESCAPE '!'", 'LikeInvalidInputs'],
    ["'a' LIKE 'a' ESCAPE '!!'", 'LikeInvalidInputs'],
  ])('of %s is refused with %s', async (expression, code) => {
    await expect(valueOf(expression)).rejects.toSatisfy((error) => error instanceof S3Error && error.code === code);
  });
});

describe('LIKE', () => {
  it('matches as the regular expression of its pattern', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '😀') });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '%', '_', '😀') });
    fc.assert(
      fc.property(text, pattern, (one, like) => {
        const source = like.replaceAll('%', '[^]*').replaceAll('_', '[^]');
        expect(matchesLike(one, parseLike(like, undefined))).toBe(new RegExp(`^${source}$`, 'u').test(one));
      }),
    );
  });

  it('takes the product of the lengths at most', () => {
    const parts = parseLike(`${'%a'.repeat(500)}b`, undefined);
    expect(matchesLike('a'.repeat(100_000), parts)).toBe(false);
  });
});
