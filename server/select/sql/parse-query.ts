import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { parseCall } from './parse-call.ts';
import { ExpressionParser, parseSteps } from './parse-expression.ts';
import type { Column, Expression, Query, Source, Step } from './query.ts';
import { TokenReader } from './token-reader.ts';

/** Bytes of an expression, as in S3. */
const maxBytes = 256 * 1_024;
const maxColumns = 10_000;

/**
 * Parses an expression of S3 Select: `SELECT … FROM S3Object … [WHERE …] [LIMIT …]`.
 *
 * @throws S3Error with a code of the lexer or the parser, ExpressionTooLong
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-select-sql-reference-select.html
 */
export function parseQuery(sql: string): Query {
  if (Buffer.byteLength(sql) > maxBytes) throw new S3Error('ExpressionTooLong');
  const tokens = new TokenReader(sql);
  const parser = new ExpressionParser(tokens, parseCall);
  if (!tokens.acceptWord('SELECT')) throw tokens.error('ParseUnexpectedToken', 'SELECT');
  const columns = parseColumns(parser);
  if (!tokens.acceptWord('FROM')) throw tokens.error('ParseSelectMissingFrom', 'FROM');
  const from = parseSource(tokens);
  const selected = parser.aggregates.length;
  const where = tokens.acceptWord('WHERE') ? parser.parse() : undefined;
  if (parser.aggregates.length > selected) {
    throw new S3Error('UnsupportedSqlStructure', 'WHERE must not have aggregate functions.');
  }
  const limit = tokens.acceptWord('LIMIT') ? parseLimit(tokens) : undefined;
  tokens.acceptOperator(';');
  checkEnd(tokens);
  const query = { columns: starOf(columns, from), from, where, limit, aggregates: parser.aggregates };
  if (query.aggregates.length > 0) checkAggregation(query.columns);
  return query;
}

/** Columns as they are read: `alias.*` is known as such only after FROM was read. */
type Columns = 'all' | { readonly starOf: string } | readonly Column[];

function parseColumns(parser: ExpressionParser): Columns {
  const { tokens } = parser;
  if (tokens.isWord('FROM')) throw new S3Error('ParseEmptySelect');
  if (tokens.isWord('DISTINCT', 'ALL')) throw tokens.error('ParseUnsupportedSyntax', 'a column');
  if (tokens.acceptOperator('*')) return alone(tokens, 'all');
  const columns: Column[] = [];
  do {
    if (tokens.isOperator('*')) throw new S3Error('ParseAsteriskIsNotAloneInSelectList');
    const expression = parser.parse();
    if (tokens.isOperator('.', '[')) return alone(tokens, star(tokens, expression, columns.length));
    columns.push({ expression, alias: parseAlias(tokens) });
    if (columns.length > maxColumns) throw new S3Error('OverMaxColumn');
  } while (tokens.acceptOperator(','));
  return columns;
}

function alone<T>(tokens: TokenReader, columns: T): T {
  if (tokens.isOperator(',')) throw new S3Error('ParseAsteriskIsNotAloneInSelectList');
  return columns;
}

function star(tokens: TokenReader, expression: Expression, before: number): { readonly starOf: string } {
  const isDot = tokens.take().text === '.';
  tokens.take();
  const [step, ...more] = expression.kind === 'path' ? expression.steps : [];
  if (!isDot || before > 0 || more.length > 0 || step === undefined || !('name' in step)) {
    throw new S3Error('ParseInvalidContextForWildcardInSelectList');
  }
  return { starOf: step.name };
}

function starOf(columns: Columns, { alias }: Source): Query['columns'] {
  if (columns === 'all' || !('starOf' in columns)) return columns;
  if (columns.starOf.toLowerCase() === (alias ?? 's3object').toLowerCase()) return 'all';
  throw new S3Error('InvalidTableAlias', `The table alias "${columns.starOf.slice(0, 64)}" is not that of FROM.`);
}

function parseAlias(tokens: TokenReader): string | undefined {
  const required = tokens.acceptWord('AS');
  const { kind } = tokens.token;
  if (kind === 'name' || kind === 'quoted') return tokens.take().text;
  // A reserved word may name a column of the result, but not a column that is read.
  if (required && kind === 'word') return tokens.take().text.toLowerCase();
  if (required) throw tokens.error('ParseExpectedIdentForAlias', 'a name');
  return undefined;
}

function parseSource(tokens: TokenReader): Source {
  const { kind, text } = tokens.take();
  if ((kind !== 'name' && kind !== 'quoted') || text.toLowerCase() !== 's3object') {
    throw new S3Error('InvalidDataSource', 'The FROM clause reads S3Object.');
  }
  const path: (Step | '*')[] = [];
  let stars = 0;
  for (;;) {
    path.push(...parseSteps(tokens));
    if (!tokens.isOperator('.', '[')) break;
    if (tokens.take().text === '.') throw new S3Error('ParseUnsupportedSyntax', 'FROM takes [*] and not .*');
    tokens.take();
    tokens.expectOperator(']');
    path.push('*');
    stars += 1;
    if (stars > 20) throw new S3Error('ParseUnsupportedSyntax', 'FROM has more than 20 wildcards.');
  }
  const [first, ...rest] = path;
  if (first !== undefined && first !== '*') {
    throw new S3Error('InvalidKeyPath', 'A path in FROM begins with S3Object[*].');
  }
  return { path: rest, alias: parseAlias(tokens) ?? lastName(rest) };
}

/** Without an alias, the last name of the path is the alias. */
function lastName(path: readonly (Step | '*')[]): string | undefined {
  const last = path.at(-1);
  return last !== undefined && last !== '*' && 'name' in last ? last.name : undefined;
}

function parseLimit(tokens: TokenReader): number {
  if (tokens.isOperator('-')) throw new S3Error('EvaluatorNegativeLimit');
  const { kind, text } = tokens.token;
  if (kind !== 'number' || !/^[0-9]{1,15}$/.test(text)) throw tokens.error('ParseExpectedNumber', 'a number');
  tokens.take();
  return Number(text);
}

function checkEnd(tokens: TokenReader): void {
  const { kind, text } = tokens.token;
  if (kind === 'end') return;
  if (kind === 'word' && ['GROUP', 'ORDER', 'HAVING', 'JOIN', 'UNION', 'INNER', 'LEFT'].includes(text)) {
    throw new S3Error('ParseUnsupportedSyntax', `${text} is not supported.`);
  }
  throw tokens.error(kind === 'word' ? 'ParseUnexpectedKeyword' : 'ParseUnexpectedToken', 'its end');
}

/** Without GROUP BY, a column next to an aggregate function has no single value. */
function checkAggregation(columns: Query['columns']): void {
  if (columns === 'all') return;
  for (const { expression } of columns) {
    if (readsRecord(expression)) {
      throw new S3Error(
        'UnsupportedSqlStructure',
        'Aggregate functions and columns of records cannot be selected together.',
      );
    }
  }
}

function readsRecord(expression: Expression): boolean {
  if (expression.kind === 'aggregate') return false;
  return expression.kind === 'path' || operandsOf(expression).some(readsRecord);
}

/** Returns the operands of an expression, also those of an aggregate function. */
export function operandsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'path':
      return [];
    case 'not':
    case 'negative':
    case 'is':
    case 'cast':
      return [expression.operand];
    case 'and':
    case 'or':
    case 'call':
      return expression.operands;
    case 'binary':
      return [expression.left, expression.right];
    case 'like':
      return [expression.operand, expression.pattern, ...(expression.escape ? [expression.escape] : [])];
    case 'in':
      return [expression.operand, ...expression.list];
    case 'case': {
      const whens = expression.whens.flatMap(({ condition, result }) => [condition, result]);
      return expression.otherwise ? [...whens, expression.otherwise] : whens;
    }
    case 'aggregate':
      return expression.argument ? [expression.argument] : [];
    default:
      return expression satisfies never;
  }
}
