import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { parseNumber } from '../evaluate/numbers.ts';
import { parseTimestamp } from '../evaluate/timestamp.ts';
import type { BinaryOperator } from './names.ts';
import type { Aggregate, Expression, Step } from './query.ts';
import type { TokenReader } from './token-reader.ts';

/** The deepest nesting of an expression. Evaluation uses the stack. */
const maxDepth = 200;
/** The largest number of nodes of an expression. */
const maxNodes = 50_000;

/** Binary operators that join from left to right, by their precedence. */
const precedences: readonly (readonly string[])[] = [['||'], ['+', '-'], ['*', '/', '%']];
const comparisons = ['=', '<>', '!=', '<', '<=', '>', '>='];

/** Parses the expressions of one query, with a limit of their depth, and collects their aggregate functions. */
export class ExpressionParser {
  readonly tokens: TokenReader;
  readonly aggregates: Aggregate[] = [];
  readonly #parseCall: (parser: ExpressionParser) => Expression;
  readonly #depths = new Map<Expression, number>();
  #calls = 0;
  /** The aggregate function whose argument is parsed must not have another. */
  #inAggregate = false;

  /** @param parseCall parses what begins with a reserved word or is a call */
  constructor(tokens: TokenReader, parseCall: (parser: ExpressionParser) => Expression) {
    this.tokens = tokens;
    this.#parseCall = parseCall;
  }

  /** @throws S3Error of the SQL expression */
  parse(): Expression {
    this.#calls += 1;
    if (this.#calls > maxDepth) throw tooDeep();
    const parsed = this.#joined('OR', 'or', () => this.#joined('AND', 'and', () => this.#not()));
    this.#calls -= 1;
    return parsed;
  }

  /** Checks the depth and the number of the nodes. Each node passes here once. */
  node(made: Expression, operands: readonly Expression[]): Expression {
    let depth = 0;
    for (const one of operands) depth = Math.max(depth, this.#depths.get(one) ?? 0);
    if (depth >= maxDepth) throw tooDeep();
    if (this.#depths.size >= maxNodes) {
      throw new S3Error('ParseUnsupportedSyntax', `The SQL expression has more than ${maxNodes} parts.`);
    }
    this.#depths.set(made, depth + 1);
    return made;
  }

  /** Parses the argument of an aggregate function; undefined for `*`. */
  aggregate(name: Aggregate['name'], parse: () => Expression | undefined): Expression {
    if (this.#inAggregate) {
      throw new S3Error('UnsupportedSqlStructure', `${name} must not be in another aggregate function.`);
    }
    this.#inAggregate = true;
    const argument = parse();
    this.#inAggregate = false;
    const made: Aggregate = { kind: 'aggregate', name, argument };
    this.aggregates.push(made);
    return this.node(made, argument === undefined ? [] : [argument]);
  }

  #joined(word: string, kind: 'and' | 'or', operand: () => Expression): Expression {
    const first = operand();
    if (!this.tokens.isWord(word)) return first;
    const operands = [first];
    while (this.tokens.acceptWord(word)) operands.push(operand());
    return this.node({ kind, operands }, operands);
  }

  #not(): Expression {
    let count = 0;
    while (this.tokens.acceptWord('NOT')) count += 1;
    const operand = this.#comparison();
    return count % 2 === 0 ? operand : this.#negated(operand);
  }

  #negated(operand: Expression): Expression {
    return this.node({ kind: 'not', operand }, [operand]);
  }

  #comparison(): Expression {
    const { tokens } = this;
    let left = this.#operators(0);
    for (;;) {
      if (tokens.isOperator(...comparisons)) {
        const { text } = tokens.take();
        const operator = (text === '!=' ? '<>' : text) as BinaryOperator;
        left = this.#binary(operator, left, this.#operators(0));
      } else if (tokens.isWord('IS')) left = this.#is(left);
      else if (tokens.isWord('IN', 'LIKE', 'BETWEEN')) left = this.#predicate(left);
      else if (tokens.isWord('NOT')) {
        tokens.take();
        if (!tokens.isWord('IN', 'LIKE', 'BETWEEN'))
          throw tokens.error('ParseUnexpectedKeyword', 'IN, LIKE or BETWEEN');
        left = this.#negated(this.#predicate(left));
      } else return left;
    }
  }

  #is(operand: Expression): Expression {
    const { tokens } = this;
    tokens.take();
    const negated = tokens.acceptWord('NOT');
    if (!tokens.isWord('NULL', 'MISSING', 'TRUE', 'FALSE'))
      throw tokens.error('ParseExpectedKeyword', 'NULL or MISSING');
    const what = tokens.take().text as 'NULL' | 'MISSING' | 'TRUE' | 'FALSE';
    const made = this.node({ kind: 'is', operand, what }, [operand]);
    return negated ? this.#negated(made) : made;
  }

  #predicate(operand: Expression): Expression {
    const { tokens } = this;
    const word = tokens.take().text;
    if (word === 'LIKE') {
      const pattern = this.#operators(0);
      const escape = tokens.acceptWord('ESCAPE') ? this.#operators(0) : undefined;
      return this.node({ kind: 'like', operand, pattern, escape }, [operand, pattern, ...(escape ? [escape] : [])]);
    }
    if (word === 'IN') {
      tokens.expectOperator('(');
      const list = this.list();
      return this.node({ kind: 'in', operand, list }, [operand, ...list]);
    }
    const low = this.#operators(0);
    tokens.expectWord('AND');
    const high = this.#operators(0);
    const operands = [this.#binary('>=', operand, low), this.#binary('<=', operand, high)];
    return this.node({ kind: 'and', operands }, operands);
  }

  /** Parses expressions up to the closing parenthesis, at least one. */
  list(): Expression[] {
    const list = [this.parse()];
    while (this.tokens.acceptOperator(',')) list.push(this.parse());
    this.tokens.expectOperator(')', 'ParseExpectedArgumentDelimiter');
    return list;
  }

  #operators(level: number): Expression {
    const operators = precedences[level];
    if (operators === undefined) return this.#unary();
    let left = this.#operators(level + 1);
    while (this.tokens.isOperator(...operators)) {
      const operator = this.tokens.take().text as BinaryOperator;
      left = this.#binary(operator, left, this.#operators(level + 1));
    }
    return left;
  }

  #binary(operator: BinaryOperator, left: Expression, right: Expression): Expression {
    return this.node({ kind: 'binary', operator, left, right }, [left, right]);
  }

  #unary(): Expression {
    let negative = false;
    while (this.tokens.isOperator('-', '+')) negative = (this.tokens.take().text === '-') !== negative;
    // The smallest integer has no positive counterpart.
    if (negative && this.tokens.token.kind === 'number') return this.#number('-');
    const operand = this.#primary();
    return negative ? this.node({ kind: 'negative', operand }, [operand]) : operand;
  }

  #primary(): Expression {
    const { tokens } = this;
    const { token } = tokens;
    switch (token.kind) {
      case 'number':
        return this.#number('');
      case 'string':
        tokens.take();
        return this.node({ kind: 'literal', value: token.text }, []);
      case 'ion':
        tokens.take();
        return this.node({ kind: 'literal', value: ionTimestamp(token.text) }, []);
      case 'word':
        return this.#parseCall(this);
      case 'name':
        if (tokens.following.kind === 'operator' && tokens.following.text === '(') return this.#parseCall(this);
        return this.#path();
      case 'quoted':
        return this.#path();
      case 'operator':
        if (!tokens.acceptOperator('(')) throw tokens.error('ParseUnexpectedToken', 'an expression');
        return this.#inParentheses();
      case 'end':
        throw tokens.error('ParseExpectedExpression', 'an expression');
      default:
        return token satisfies never;
    }
  }

  #inParentheses(): Expression {
    if (this.tokens.isWord('SELECT')) throw new S3Error('ParseUnsupportedSelect', 'Subqueries are not supported.');
    const inner = this.parse();
    this.tokens.expectOperator(')');
    return inner;
  }

  #number(sign: '' | '-'): Expression {
    const text = sign + this.tokens.take().text;
    const value = parseNumber(text);
    return this.node({ kind: 'literal', value }, []);
  }

  #path(): Expression {
    return this.node({ kind: 'path', steps: [nameStep(this.tokens), ...parseSteps(this.tokens)] }, []);
  }
}

/** Parses the steps `.name` and `[index]` after a name. It leaves `.*` and `[*]` to the caller. */
export function parseSteps(tokens: TokenReader): Step[] {
  const steps: Step[] = [];
  for (;;) {
    const { following } = tokens;
    if (following.kind === 'operator' && following.text === '*') return steps;
    if (tokens.acceptOperator('.')) steps.push(nameStep(tokens, true));
    else if (tokens.acceptOperator('[')) steps.push(indexStep(tokens));
    else return steps;
    if (steps.length > maxDepth) throw tooDeep();
  }
}

/** After a dot, reserved words are names too. */
function nameStep(tokens: TokenReader, afterDot = false): Step {
  const { kind, text } = tokens.token;
  const isName = kind === 'name' || kind === 'quoted' || (afterDot && kind === 'word');
  if (!isName) throw tokens.error('ParseExpectedMember', 'a name');
  tokens.take();
  return { name: kind === 'word' ? text.toLowerCase() : text, exact: kind === 'quoted' };
}

function indexStep(tokens: TokenReader): Step {
  const { kind, text } = tokens.take();
  let step: Step;
  if (kind === 'string') step = { name: text, exact: true };
  else if (kind === 'number' && /^[0-9]{1,9}$/.test(text)) step = { index: Number(text) };
  else throw new S3Error('InvalidKeyPath', 'The index of an element is a number from 0.');
  tokens.expectOperator(']');
  return step;
}

function ionTimestamp(text: string) {
  const value = parseTimestamp(text);
  if (value === undefined) {
    throw new S3Error(
      'LexerInvalidIONLiteral',
      `The Ion literal ${JSON.stringify(text.slice(0, 64))} is no timestamp.`,
    );
  }
  return value;
}

function tooDeep(): S3Error {
  return new S3Error('ParseUnsupportedSyntax', `The SQL expression is nested deeper than ${maxDepth}.`);
}
