import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { DecimalDigits } from '../evaluate/values.ts';
import type { ExpressionParser } from './parse-expression.ts';
import type { DatePart, FunctionName, TypeName } from './names.ts';
import type { Aggregate, Expression } from './query.ts';
import type { TokenReader } from './token-reader.ts';

/** Functions with a plain list of arguments: the smallest and the largest number of them. */
const plainFunctions: ReadonlyMap<string, readonly [name: FunctionName, min: number, max: number]> = new Map([
  ['CHAR_LENGTH', ['CHAR_LENGTH', 1, 1]],
  ['CHARACTER_LENGTH', ['CHAR_LENGTH', 1, 1]],
  ['COALESCE', ['COALESCE', 1, 1_000]],
  ['LOWER', ['LOWER', 1, 1]],
  ['NULLIF', ['NULLIF', 2, 2]],
  ['TO_STRING', ['TO_STRING', 2, 2]],
  ['TO_TIMESTAMP', ['TO_TIMESTAMP', 1, 1]],
  ['UPPER', ['UPPER', 1, 1]],
  ['UTCNOW', ['UTCNOW', 0, 0]],
]);

const aggregates = ['COUNT', 'SUM', 'AVG', 'MIN', 'MAX'];
const literals: Readonly<Record<string, boolean | null | undefined>> = {
  TRUE: true,
  FALSE: false,
  NULL: null,
  MISSING: undefined,
};
const dateParts: readonly string[] = ['year', 'month', 'day', 'hour', 'minute', 'second'] satisfies DatePart[];
const zoneParts: readonly string[] = ['timezone_hour', 'timezone_minute'] satisfies DatePart[];

const types: Readonly<Record<string, TypeName>> = {
  BOOL: 'bool',
  BOOLEAN: 'bool',
  INT: 'int',
  INTEGER: 'int',
  SMALLINT: 'int',
  FLOAT: 'float',
  REAL: 'float',
  DEC: 'decimal',
  DECIMAL: 'decimal',
  NUMERIC: 'decimal',
  STRING: 'string',
  TIMESTAMP: 'timestamp',
};

/**
 * Parses what begins with a reserved word (a literal, CASE, CAST, a function) and calls of other names, which are no functions of S3.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-select-sql-reference-sql-functions.html
 */
export function parseCall(parser: ExpressionParser): Expression {
  const { tokens } = parser;
  const name = tokens.token.text.toUpperCase();
  if (Object.hasOwn(literals, name)) {
    tokens.take();
    return parser.node({ kind: 'literal', value: literals[name] }, []);
  }
  if (name === 'CASE') return parseCase(parser);
  if (name === 'CAST') return parseCast(parser);
  if (!isOpening(tokens)) throw tokens.error('ParseUnexpectedKeyword', 'an expression');
  if (aggregates.includes(name)) return parseAggregate(parser, name as Aggregate['name']);
  const plain = plainFunctions.get(name);
  if (plain !== undefined) return parsePlain(parser, plain);
  switch (name) {
    case 'TRIM':
      return parseTrim(parser);
    case 'SUBSTRING':
      return parseSubstring(parser);
    case 'EXTRACT':
      return parseExtract(parser);
    case 'DATE_ADD':
    case 'DATE_DIFF':
      return parseDate(parser, name);
    default:
      throw new S3Error('UnsupportedFunction', `The SQL function ${name.slice(0, 64)} is not supported.`);
  }
}

function isOpening({ following }: TokenReader): boolean {
  return following.kind === 'operator' && following.text === '(';
}

function open({ tokens }: ExpressionParser): void {
  tokens.take();
  tokens.expectOperator('(', 'ParseExpectedLeftParenBuiltinFunctionCall');
}

function close({ tokens }: ExpressionParser): void {
  tokens.expectOperator(')', 'ParseExpectedRightParenBuiltinFunctionCall');
}

function call(
  parser: ExpressionParser,
  name: FunctionName,
  operands: readonly Expression[],
  part?: DatePart,
): Expression {
  return parser.node({ kind: 'call', name, operands, ...(part && { part }) }, operands);
}

function parsePlain(
  parser: ExpressionParser,
  [name, min, max]: readonly [name: FunctionName, min: number, max: number],
): Expression {
  open(parser);
  const operands = parser.tokens.acceptOperator(')') ? [] : parser.list();
  if (operands.length < min || operands.length > max) {
    const wanted = min === max ? String(min) : `${min} to ${max}`;
    throw new S3Error('EvaluatorInvalidArguments', `${name} has ${operands.length} arguments and takes ${wanted}.`);
  }
  return call(parser, name, operands);
}

function parseAggregate(parser: ExpressionParser, name: Aggregate['name']): Expression {
  const { tokens } = parser;
  open(parser);
  return parser.aggregate(name, () => {
    if (tokens.acceptOperator('*')) {
      if (name !== 'COUNT') throw new S3Error('ParseUnsupportedCallWithStar');
      close(parser);
      return undefined;
    }
    if (tokens.isWord('DISTINCT', 'ALL')) {
      throw new S3Error('ParseUnsupportedSyntax', `${tokens.token.text} in ${name} is not supported.`);
    }
    const argument = parser.parse();
    if (tokens.isOperator(',')) throw new S3Error('ParseNonUnaryAggregateFunctionCall');
    close(parser);
    return argument;
  });
}

function parseCase(parser: ExpressionParser): Expression {
  const { tokens } = parser;
  tokens.take();
  const compared = tokens.isWord('WHEN') ? undefined : parser.parse();
  const whens: { condition: Expression; result: Expression }[] = [];
  while (tokens.acceptWord('WHEN')) {
    const value = parser.parse();
    const condition =
      compared === undefined
        ? value
        : parser.node({ kind: 'binary', operator: '=', left: compared, right: value }, [compared, value]);
    tokens.expectWord('THEN');
    whens.push({ condition, result: parser.parse() });
  }
  if (whens.length === 0) throw tokens.error('ParseExpectedWhenClause', 'WHEN');
  const otherwise = tokens.acceptWord('ELSE') ? parser.parse() : undefined;
  tokens.expectWord('END');
  const operands = whens.flatMap(({ condition, result }) => [condition, result]);
  return parser.node({ kind: 'case', whens, otherwise }, otherwise ? [...operands, otherwise] : operands);
}

function parseCast(parser: ExpressionParser): Expression {
  const { tokens } = parser;
  tokens.take();
  tokens.expectOperator('(', 'ParseExpectedLeftParenAfterCast');
  const operand = parser.parse();
  tokens.expectWord('AS');
  const { token } = tokens;
  const word = token.kind === 'word' ? token.text : '';
  // DOUBLE PRECISION has two words.
  const isDouble = word === 'DOUBLE' && tokens.following.text.toUpperCase() === 'PRECISION';
  const type = isDouble ? 'float' : types[word];
  if (type === undefined) throw tokens.error('ParseExpectedTypeName', 'a type');
  tokens.take();
  if (isDouble) tokens.take();
  const digits = type === 'decimal' ? parseDigits(tokens) : undefined;
  close(parser);
  return parser.node({ kind: 'cast', operand, type, digits }, [operand]);
}

/** Parses the precision and the scale of a DECIMAL. */
function parseDigits(tokens: TokenReader): DecimalDigits | undefined {
  if (!tokens.acceptOperator('(')) return undefined;
  const precision = parameter(tokens);
  const scale = tokens.acceptOperator(',') ? parameter(tokens) : 0;
  tokens.expectOperator(')');
  if (precision < 1 || precision > 38 || scale > precision) throw new S3Error('ParseInvalidTypeParam');
  return { precision, scale };
}

function parameter(tokens: TokenReader): number {
  const { kind, text } = tokens.token;
  if (kind !== 'number' || !/^[0-9]{1,2}$/.test(text)) throw tokens.error('ParseInvalidTypeParam', 'a number');
  tokens.take();
  return Number(text);
}

/** TRIM([[LEADING | TRAILING | BOTH] [characters] FROM] text) */
function parseTrim(parser: ExpressionParser): Expression {
  const { tokens } = parser;
  open(parser);
  const side = tokens.isWord('LEADING', 'TRAILING', 'BOTH') ? tokens.take().text : undefined;
  const name = `TRIM_${side ?? 'BOTH'}` as 'TRIM_BOTH' | 'TRIM_LEADING' | 'TRIM_TRAILING';
  let characters: Expression | undefined;
  let text: Expression | undefined;
  if (!tokens.isWord('FROM')) text = parser.parse();
  if (tokens.acceptWord('FROM')) {
    characters = text;
    text = parser.parse();
  } else if (side !== undefined) throw tokens.error('ParseExpectedKeyword', 'FROM');
  close(parser);
  if (text === undefined) throw tokens.error('ParseExpectedExpression', 'a text');
  return call(parser, name, characters === undefined ? [text] : [text, characters]);
}

/** SUBSTRING(text FROM start [FOR length]) and SUBSTRING(text, start [, length]) */
function parseSubstring(parser: ExpressionParser): Expression {
  const { tokens } = parser;
  open(parser);
  const operands = [parser.parse()];
  if (tokens.acceptWord('FROM')) {
    operands.push(parser.parse());
    if (tokens.acceptWord('FOR')) operands.push(parser.parse());
  } else {
    tokens.expectOperator(',', 'ParseExpectedArgumentDelimiter');
    operands.push(parser.parse());
    if (tokens.acceptOperator(',')) operands.push(parser.parse());
  }
  close(parser);
  return call(parser, 'SUBSTRING', operands);
}

function parseExtract(parser: ExpressionParser): Expression {
  open(parser);
  const part = datePart(parser.tokens, [...dateParts, ...zoneParts]);
  parser.tokens.expectWord('FROM');
  const operand = parser.parse();
  close(parser);
  return call(parser, 'EXTRACT', [operand], part);
}

function parseDate(parser: ExpressionParser, name: 'DATE_ADD' | 'DATE_DIFF'): Expression {
  const { tokens } = parser;
  open(parser);
  const part = datePart(tokens, dateParts);
  tokens.expectOperator(',', 'ParseExpectedArgumentDelimiter');
  const first = parser.parse();
  tokens.expectOperator(',', 'ParseExpectedArgumentDelimiter');
  const second = parser.parse();
  close(parser);
  return call(parser, name, [first, second], part);
}

function datePart(tokens: TokenReader, allowed: readonly string[]): DatePart {
  const part = tokens.token.text.toLowerCase();
  if (!allowed.includes(part)) throw tokens.error('ParseExpectedDatePart', 'a date part');
  tokens.take();
  return part as DatePart;
}
