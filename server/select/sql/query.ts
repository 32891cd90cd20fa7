import type { DecimalDigits, Value } from '../evaluate/values.ts';
import type { BinaryOperator, DatePart, FunctionName, TypeName } from './names.ts';

/** A parsed query. */
export interface Query {
  /** The columns of the result; `all` is `SELECT *`. */
  readonly columns: 'all' | readonly Column[];
  readonly from: Source;
  readonly where: Expression | undefined;
  /** The largest number of records of the result. */
  readonly limit: number | undefined;
  /** The aggregate functions of the columns, each once. */
  readonly aggregates: readonly Aggregate[];
}

export interface Column {
  readonly expression: Expression;
  /** The name that the query gives; undefined without one. */
  readonly alias: string | undefined;
}

/** The source of the query: `S3Object`, and the path from a value of the root to the records. */
export interface Source {
  /** `*` means each element of an array. It does not have the `[*]` that follows `S3Object`. */
  readonly path: readonly (Step | '*')[];
  /** The name of a record in the expressions. */
  readonly alias: string | undefined;
}

/** A step of a path: the name of a field, or the index of an element. */
export type Step = { readonly name: string; readonly exact: boolean } | { readonly index: number };

export interface Aggregate {
  readonly kind: 'aggregate';
  readonly name: 'COUNT' | 'SUM' | 'AVG' | 'MIN' | 'MAX';
  /** Undefined for `COUNT(*)`. */
  readonly argument: Expression | undefined;
}

export type Expression =
  | { readonly kind: 'literal'; readonly value: Value }
  | { readonly kind: 'path'; readonly steps: readonly Step[] }
  | { readonly kind: 'not' | 'negative'; readonly operand: Expression }
  /** Many operands are one node: a chain of thousands of conditions must not nest. */
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Expression[] }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'like';
      readonly operand: Expression;
      readonly pattern: Expression;
      readonly escape: Expression | undefined;
    }
  | { readonly kind: 'in'; readonly operand: Expression; readonly list: readonly Expression[] }
  | { readonly kind: 'is'; readonly operand: Expression; readonly what: 'NULL' | 'MISSING' | 'TRUE' | 'FALSE' }
  | {
      readonly kind: 'case';
      readonly whens: readonly { readonly condition: Expression; readonly result: Expression }[];
      readonly otherwise: Expression | undefined;
    }
  | {
      readonly kind: 'cast';
      readonly operand: Expression;
      readonly type: TypeName;
      readonly digits: DecimalDigits | undefined;
    }
  | {
      readonly kind: 'call';
      readonly name: FunctionName;
      readonly operands: readonly Expression[];
      readonly part?: DatePart;
    }
  | Aggregate;
