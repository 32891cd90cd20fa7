import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { parseQuery } from './parse-query.ts';
import { reservedWords } from './reserved-words.ts';

function codeOf(sql: string): string {
  try {
    parseQuery(sql);
    return 'none';
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
}

describe('an expression', () => {
  it.each([
    ['SELECT * FROM S3Object'],
    ['select s."a b", s.date, s.a[0][\'x\'] from S3Object[*][*].b[*] as s where -1 < +2;'],
    ['SELECT COUNT(*) FROM S3Object -- a comment\nLIMIT 5'],
    ["SELECT TRIM(LEADING 'x' FROM a), TRIM(a), TRIM(BOTH FROM a), SUBSTRING(a FROM 1 FOR 2) FROM S3Object"],
    ['SELECT CAST(a AS DECIMAL(10, 2)), CAST(a AS DOUBLE PRECISION), EXTRACT(YEAR FROM `2007T`) FROM S3Object'],
    [`SELECT * FROM S3Object WHERE ${Array.from({ length: 5_000 }, (_, at) => `a = ${at}`).join(' OR ')}`],
    [`SELECT * FROM S3Object WHERE a IN (${Array.from({ length: 20_000 }, (_, at) => at).join(',')})`],
  ])('is read: %.60s', (sql) => {
    expect(codeOf(sql)).toBe('none');
  });

  it.each([
    ['', 'ParseUnexpectedToken'],
    ['DELETE FROM S3Object', 'ParseUnexpectedToken'],
    ['SELECT FROM S3Object', 'ParseEmptySelect'],
    ['SELECT a', 'ParseSelectMissingFrom'],
    ['SELECT a FROM other', 'InvalidDataSource'],
    ['SELECT a FROM S3Object.b', 'InvalidKeyPath'],
    ['SELECT *, a FROM S3Object', 'ParseAsteriskIsNotAloneInSelectList'],
    ['SELECT a, * FROM S3Object', 'ParseAsteriskIsNotAloneInSelectList'],
    ['SELECT t.* FROM S3Object s', 'InvalidTableAlias'],
    ['SELECT date FROM S3Object', 'ParseUnexpectedKeyword'],
    ['SELECT a AS FROM S3Object', 'ParseSelectMissingFrom'],
    ['SELECT a AS 1 FROM S3Object', 'ParseExpectedIdentForAlias'],
    ['SELECT a FROM S3Object WHERE', 'ParseExpectedExpression'],
    ['SELECT a FROM S3Object GROUP BY a', 'ParseUnsupportedSyntax'],
    ['SELECT DISTINCT a FROM S3Object', 'ParseUnsupportedSyntax'],
    ['SELECT (SELECT 1) FROM S3Object', 'ParseUnsupportedSelect'],
    ['SELECT a FROM S3Object LIMIT -1', 'EvaluatorNegativeLimit'],
    ['SELECT a FROM S3Object LIMIT x', 'ParseExpectedNumber'],
    ['SELECT COUNT(*), a FROM S3Object', 'UnsupportedSqlStructure'],
    ['SELECT SUM(COUNT(a)) FROM S3Object', 'UnsupportedSqlStructure'],
    ['SELECT a FROM S3Object WHERE COUNT(*) > 1', 'UnsupportedSqlStructure'],
    ['SELECT SUM(*) FROM S3Object', 'ParseUnsupportedCallWithStar'],
    ['SELECT SUM(a, b) FROM S3Object', 'ParseNonUnaryAggregateFunctionCall'],
    ['SELECT SQRT(a) FROM S3Object', 'UnsupportedFunction'],
    ['SELECT LOWER(a, b) FROM S3Object', 'EvaluatorInvalidArguments'],
    ['SELECT CAST a FROM S3Object', 'ParseExpectedLeftParenAfterCast'],
    ['SELECT CAST(a AS BLOB) FROM S3Object', 'ParseExpectedTypeName'],
    ['SELECT CAST(a AS DECIMAL(99)) FROM S3Object', 'ParseInvalidTypeParam'],
    ['SELECT CASE END FROM S3Object', 'ParseUnexpectedKeyword'],
    ['SELECT CASE a END FROM S3Object', 'ParseExpectedWhenClause'],
    ['SELECT EXTRACT(week FROM a) FROM S3Object', 'ParseExpectedDatePart'],
    ["SELECT 'a FROM S3Object", 'LexerInvalidLiteral'],
    ['SELECT 1a FROM S3Object', 'LexerInvalidLiteral'],
    ['SELECT ä FROM S3Object', 'LexerInvalidChar'],
    ['SELECT `x` FROM S3Object', 'LexerInvalidIONLiteral'],
    ['SELECT 9223372036854775808 FROM S3Object', 'none'],
    ['SELECT 1e99999 FROM S3Object', 'InvalidDataType'],
    ['SELECT a[x] FROM S3Object', 'InvalidKeyPath'],
    ['SELECT a FROM S3Object s extra', 'ParseUnexpectedToken'],
    [`SELECT '${'x'.repeat(262_144)}' FROM S3Object`, 'ExpressionTooLong'],
    [`SELECT ${'('.repeat(100_000)}1 FROM S3Object`, 'ParseUnsupportedSyntax'],
    [`SELECT 1${' + 1'.repeat(50_000)} FROM S3Object`, 'ParseUnsupportedSyntax'],
    [`SELECT a${'.a'.repeat(100_000)} FROM S3Object`, 'ParseUnsupportedSyntax'],
    [`SELECT ${'CASE WHEN '.repeat(20_000)} FROM S3Object`, 'ParseUnsupportedSyntax'],
    [`SELECT a FROM S3Object WHERE a${' IS NULL'.repeat(20_000)}`, 'ParseUnsupportedSyntax'],
    [`SELECT ${'NOT '.repeat(60_000)}a FROM S3Object`, 'none'],
    [`SELECT ${'- '.repeat(60_000)}a FROM S3Object`, 'none'],
  ])('%.60s is answered %s', (sql, code) => {
    expect(codeOf(sql)).toBe(code);
  });

  it('of any tokens is read or refused', () => {
    const words = [
      ...reservedWords,
      ...'a S3Object ( ) [ ] * . , = <> || + - / % 1 2.5e3 \' " ` ; != \'x\' "y" `2007T` [*] 0'.split(' '),
    ];
    const tokens = fc.array(fc.constantFrom(...words), { maxLength: 40 });
    fc.assert(
      fc.property(tokens, fc.string(), (middle, text) => {
        expect(codeOf(`SELECT ${middle.join(' ')} FROM S3Object`)).toMatch(/^\w+$/);
        expect(codeOf(`SELECT a FROM S3Object WHERE ${middle.join(' ')} ${text}`)).toMatch(/^\w+$/);
      }),
    );
  });
});
