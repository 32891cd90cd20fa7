import type { Aggregate, Column, Query } from '../sql/query.ts';
import { operandsOf } from '../sql/parse-query.ts';
import { Accumulator } from './aggregates.ts';
import { compile, type Evaluate, truth } from './compile.ts';
import { readPath, type SourceRecord } from './record.ts';
import { Struct, type Value } from './values.ts';

/** Gets the records of the result. */
interface ResultSink {
  write(names: readonly string[], values: readonly Value[]): void;
}

/** Evaluates a query over the records of a source. */
export class QueryEvaluator {
  readonly #query: Query;
  readonly #where: Evaluate | undefined;
  readonly #columns: readonly Evaluate[] | undefined;
  readonly #names: readonly string[];
  readonly #aggregates = new Map<Aggregate, { readonly state: Accumulator; readonly argument: Evaluate | undefined }>();
  #results = 0;

  /** @param untyped the fields of the source are text, as in CSV */
  constructor(query: Query, { untyped, now }: { readonly untyped: boolean; readonly now: Date }) {
    this.#query = query;
    const context = {
      alias: query.from.alias,
      untyped,
      now,
      aggregate: (aggregate: Aggregate) => this.#aggregates.get(aggregate)?.state.result ?? null,
    };
    this.#where = query.where && compile(query.where, context);
    this.#columns = query.columns === 'all' ? undefined : query.columns.map((one) => compile(one.expression, context));
    this.#names = query.columns === 'all' ? [] : namesOf(query.columns);
    for (const aggregate of query.aggregates) {
      this.#aggregates.set(aggregate, {
        state: new Accumulator(aggregate.name, untyped),
        argument: aggregate.argument && compile(aggregate.argument, context),
      });
    }
  }

  /** The result has all the records that LIMIT allows. */
  get isDone(): boolean {
    return (
      this.#query.limit !== undefined &&
      this.#results >= (this.#query.aggregates.length > 0 && this.#query.limit > 0 ? Infinity : this.#query.limit)
    );
  }

  /** @throws S3Error of the data */
  add(record: SourceRecord, sink: ResultSink): void {
    if (this.isDone || (this.#where !== undefined && truth(this.#where(record)) !== true)) return;
    if (this.#aggregates.size > 0) {
      // COUNT(*) counts a value that is always there.
      for (const { state, argument } of this.#aggregates.values())
        state.add(argument === undefined ? true : argument(record));
      return;
    }
    this.#results += 1;
    if (this.#columns === undefined) writeAll(record, sink);
    else
      sink.write(
        this.#names,
        this.#columns.map((column) => column(record)),
      );
  }

  /** Ends the source: aggregate functions have their result. */
  end(sink: ResultSink): void {
    if (this.#aggregates.size === 0 || this.#columns === undefined || this.isDone) return;
    const nothing: SourceRecord = { kind: 'value', value: undefined };
    sink.write(
      this.#names,
      this.#columns.map((column) => column(nothing)),
    );
  }
}

/** Names the columns of the result: by the alias, the last name of a path, or the position. */
function namesOf(columns: readonly Column[]): string[] {
  return columns.map(({ expression, alias }, at) => {
    const last = expression.kind === 'path' ? expression.steps.at(-1) : undefined;
    return alias ?? (last !== undefined && 'name' in last ? last.name : `_${at + 1}`);
  });
}

function writeAll(record: SourceRecord, sink: ResultSink): void {
  if (record.kind === 'fields') {
    const { fields, names } = record;
    sink.write(names ?? [], fields);
  } else if (record.value instanceof Struct) sink.write(record.value.names, record.value.values);
  else sink.write(['_1'], [record.value]);
}

/** Yields the records that the path of FROM finds in a value of the root. Where it finds nothing, there is one record, which is MISSING. */
export function* recordsIn(value: Value, path: Query['from']['path'], from = 0): Generator<Value> {
  const star = path.indexOf('*', from);
  const steps = path.slice(from, star < 0 ? path.length : star);
  const found = readPath(
    value,
    steps.flatMap((step) => (step === '*' ? [] : [step])),
  );
  if (star < 0) yield found;
  else if (Array.isArray(found)) for (const one of found as readonly Value[]) yield* recordsIn(one, path, star + 1);
  else yield undefined;
}

/**
 * Returns the names of the columns that a query reads, in lower case: a reader of columns leaves out the others. Undefined if it needs all.
 */
export function columnsRead(query: Query): ReadonlySet<string> | undefined {
  if (query.columns === 'all') return undefined;
  const names = new Set<string>();
  const pending = query.columns.map(({ expression }) => expression);
  if (query.where !== undefined) pending.push(query.where);
  const alias = (query.from.alias ?? 's3object').toLowerCase();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    pending.push(...operandsOf(next));
    if (next.kind !== 'path') continue;
    const [first, second] = next.steps;
    if (first === undefined || !('name' in first)) return undefined;
    const name = first.name.toLowerCase() === alias ? second : first;
    if (name === undefined || !('name' in name) || /^_[0-9]+$/.test(name.name)) return undefined;
    names.add(name.name.toLowerCase());
  }
  return names;
}
