import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { BinaryOperator } from '../sql/names.ts';
import type { Aggregate, Expression, Step } from '../sql/query.ts';
import { callFunction, type FunctionContext } from './functions.ts';
import { type LikePattern, matchesLike, parseLike } from './like.ts';
import { fieldReader, type SourceRecord } from './record.ts';
import {
  addNumbers,
  divideNumbers,
  multiplyNumbers,
  negateNumber,
  remainderOfNumbers,
  subtractNumbers,
} from './arithmetic.ts';
import {
  asNumber,
  areEqual,
  castValue,
  compareValues,
  equalTo,
  type Numeric,
  textOf,
  utf8Of,
  type Value,
} from './values.ts';

/** An expression as a function of a record. */
export type Evaluate = (record: SourceRecord) => Value;

interface CompileContext extends FunctionContext {
  /** The name of the record. */
  readonly alias: string | undefined;
  /** Returns the result of an aggregate function; the query has one value for all its records. */
  readonly aggregate: (aggregate: Aggregate) => Value;
}

/**
 * Compiles an expression to closures, once for each query. They are safe for any query, unlike generated code, and take some 20 ns for each
 * node.
 *
 * @throws S3Error of the SQL expression; the closures throw those of the data
 */
export function compile(expression: Expression, context: CompileContext): Evaluate {
  const of = (one: Expression) => compile(one, context);
  switch (expression.kind) {
    case 'literal':
      return () => expression.value;
    case 'path':
      return compilePath(expression.steps, context.alias);
    case 'aggregate':
      return () => context.aggregate(expression);
    case 'not': {
      const operand = of(expression.operand);
      return (record) => {
        const value = truth(operand(record));
        return value === null ? null : !value;
      };
    }
    case 'negative': {
      const operand = of(expression.operand);
      return (record) => negative(operand(record), context.untyped);
    }
    case 'and':
      return compileJoined(expression.operands.map(of), false);
    case 'or':
      return compileJoined(expression.operands.map(of), true);
    case 'binary':
      return compileBinary(expression.operator, of(expression.left), of(expression.right), context.untyped);
    case 'like':
      return compileLike(of(expression.operand), of(expression.pattern), expression.escape && of(expression.escape));
    case 'in':
      return compileIn(of(expression.operand), expression.list.map(of), context.untyped);
    case 'is':
      return compileIs(of(expression.operand), expression.what);
    case 'case':
      return compileCase(
        expression.whens.map(({ condition, result }) => [of(condition), of(result)] as const),
        expression.otherwise && of(expression.otherwise),
      );
    case 'cast': {
      const operand = of(expression.operand);
      const { type, digits } = expression;
      return (record) => {
        const value = operand(record);
        return value === null || value === undefined ? value : castValue(value, type, digits);
      };
    }
    case 'call': {
      const operands = expression.operands.map(of);
      const { name, part } = expression;
      return (record) =>
        callFunction(
          name,
          operands.map((one) => one(record)),
          part,
          context,
        );
    }
    default:
      return expression satisfies never;
  }
}

/** Returns what a condition is: true, false, or null for unknown. A text of CSV is not a condition. */
export function truth(value: Value): boolean | null {
  if (typeof value === 'boolean') return value;
  if (value === null || value === undefined) return null;
  throw new S3Error('InvalidDataType', `${JSON.stringify(textOf(value).slice(0, 64))} is no condition.`);
}

function compilePath(steps: readonly Step[], alias: string | undefined): Evaluate {
  const [first, ...rest] = steps;
  const isAlias =
    first !== undefined && 'name' in first && first.name.toLowerCase() === (alias ?? 's3object').toLowerCase();
  if (!isAlias) return fieldReader(steps, alias !== undefined);
  if (rest.length > 0) return fieldReader(rest, true);
  return (record) => (record.kind === 'value' ? record.value : record.fields);
}

/** AND and OR end at the first operand that decides: `decisive`. */
function compileJoined(operands: readonly Evaluate[], decisive: boolean): Evaluate {
  return (record) => {
    let result: boolean | null = !decisive;
    for (const operand of operands) {
      const value = truth(operand(record));
      if (value === decisive) return decisive;
      if (value === null) result = null;
    }
    return result;
  };
}

type Order = '<' | '<=' | '>' | '>=';
type Arithmetic = Exclude<BinaryOperator, Order | '=' | '<>' | '||'>;

const orders: Readonly<Record<Order, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

function compileBinary(operator: BinaryOperator, left: Evaluate, right: Evaluate, untyped: boolean): Evaluate {
  if (operator === '||') return compileOperands(left, right, joinTexts);
  if (operator === '=') return compileOperands(left, right, (a, b) => areEqual(a, b, untyped));
  if (operator === '<>') return compileOperands(left, right, (a, b) => !areEqual(a, b, untyped));
  if (!isOrder(operator)) {
    const calculate = calculations[operator];
    return compileOperands(left, right, (a, b) => calculate(operandOf(a, untyped), operandOf(b, untyped)));
  }
  const holds = orders[operator];
  return compileOperands(left, right, (a, b) => {
    const order = compareValues(a, b, untyped);
    // Values of different types have no order.
    return order === undefined ? null : holds(order);
  });
}

function isOrder(operator: BinaryOperator): operator is Order {
  return Object.hasOwn(orders, operator);
}

/** An operator with NULL or MISSING is NULL. */
function compileOperands(left: Evaluate, right: Evaluate, operate: (a: Value, b: Value) => Value): Evaluate {
  return (record) => {
    const a = left(record);
    const b = right(record);
    if (a === null || a === undefined || b === null || b === undefined) return null;
    return operate(a, b);
  };
}

function joinTexts(left: Value, right: Value): string {
  if (typeof left === 'string' && typeof right === 'string') return checkedText(left + right);
  throw new S3Error('EvaluatorInvalidArguments', '|| takes two strings. Use CAST for other values.');
}

/** Characters of a text that an expression makes: those of the longest record. */
const maxText = 1_048_576;

function checkedText(text: string): string {
  if (text.length > maxText) throw new S3Error('OverMaxRecordSize');
  return text;
}

function operandOf(value: Value, untyped: boolean): Numeric {
  const number = asNumber(value, untyped);
  if (number !== undefined) return number;
  throw new S3Error('InvalidDataType', `${JSON.stringify(textOf(value).slice(0, 64))} is no number.`);
}

function negative(value: Value, untyped: boolean): Value {
  return value === null || value === undefined ? null : negateNumber(operandOf(value, untyped));
}

const calculations: Readonly<Record<Arithmetic, (a: Numeric, b: Numeric) => Numeric>> = {
  '+': addNumbers,
  '-': subtractNumbers,
  '*': multiplyNumbers,
  '/': divideNumbers,
  '%': remainderOfNumbers,
};

function compileLike(operand: Evaluate, pattern: Evaluate, escape: Evaluate | undefined): Evaluate {
  let known: { readonly text: string; readonly escape: string | undefined; readonly parts: LikePattern } | undefined;
  return (record) => {
    const given = operand(record);
    const value = given instanceof Uint8Array ? (utf8Of(given) ?? given) : given;
    const text = pattern(record);
    const character = escape?.(record);
    if (value === null || value === undefined || text === null || text === undefined || character === null) return null;
    if (
      typeof value !== 'string' ||
      typeof text !== 'string' ||
      (character !== undefined && typeof character !== 'string')
    ) {
      throw new S3Error('LikeInvalidInputs', 'LIKE takes strings, and bytes that are UTF-8.');
    }
    if (known === undefined || known.text !== text || known.escape !== character) {
      known = { text, escape: character, parts: parseLike(text, character) };
    }
    return matchesLike(value, known.parts);
  };
}

function compileIn(operand: Evaluate, list: readonly Evaluate[], untyped: boolean): Evaluate {
  return (record) => {
    const value = operand(record);
    if (value === null || value === undefined) return null;
    const isEqual = equalTo(value, untyped);
    let result: boolean | null = false;
    for (const one of list) {
      const other = one(record);
      if (other === null || other === undefined) result = null;
      else if (isEqual(other)) return true;
    }
    return result;
  };
}

function compileIs(operand: Evaluate, what: 'NULL' | 'MISSING' | 'TRUE' | 'FALSE'): Evaluate {
  switch (what) {
    case 'NULL':
      return (record) => (operand(record) ?? null) === null;
    case 'MISSING':
      return (record) => operand(record) === undefined;
    case 'TRUE':
      return (record) => operand(record) === true;
    case 'FALSE':
      return (record) => operand(record) === false;
    default:
      return what satisfies never;
  }
}

function compileCase(
  whens: readonly (readonly [condition: Evaluate, result: Evaluate])[],
  otherwise: Evaluate | undefined,
): Evaluate {
  return (record) => {
    for (const [condition, result] of whens) if (truth(condition(record)) === true) return result(record);
    return otherwise === undefined ? null : otherwise(record);
  };
}
