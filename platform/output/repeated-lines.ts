/** The maximum of lines of one kind within an interval, and of kinds. The rest is counted. */
const linesPerInterval = 5;
const intervalMs = 10_000;
const maxKinds = 20;
/** All kinds beyond `maxKinds` count as this one. */
const otherKind = '';

/** The log that gets the lines. */
interface Log {
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
  isLevelEnabled?(level: 'debug'): boolean;
}

interface Kind {
  lines: number;
  left: number;
}

/**
 * Limits the lines of the log that each failed call writes. While a key service or a database is away, all calls fail in the same way, and
 * thousands of lines a second fill the disk. The first lines of a kind are written, the others are counted, and the log has their number
 * at the end of the interval.
 */
export class RepeatedLines {
  readonly #log: Log;
  readonly #kinds = new Map<string, Kind>();

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Writes the line, or counts it. Lines whose text and error differ in numbers alone are of one kind. With the level `debug` every line is
   * written.
   */
  write(level: 'warn' | 'error', fields: Readonly<Record<string, unknown>>, text: string): void {
    if (this.#log.isLevelEnabled?.('debug') === true || this.#allows(level, kindOf(fields, text), text))
      this.#log[level](fields, text);
  }

  #allows(level: 'warn' | 'error', name: string, text: string): boolean {
    const known = this.#kinds.has(name) || this.#kinds.size < maxKinds ? name : otherKind;
    let kind = this.#kinds.get(known);
    if (kind === undefined) {
      kind = { lines: 0, left: 0 };
      this.#kinds.set(known, kind);
      setTimeout(() => this.#end(level, known, text), intervalMs).unref();
    }
    if (kind.lines < linesPerInterval) {
      kind.lines += 1;
      return true;
    }
    kind.left += 1;
    return false;
  }

  #end(level: 'warn' | 'error', name: string, text: string): void {
    const left = this.#kinds.get(name)?.left ?? 0;
    this.#kinds.delete(name);
    if (left === 0) return;
    const what = name === otherKind ? 'failures of other kinds' : text;
    this.#log[level](
      { event: 'lines-left-out', count: left },
      `${what}: ${left} more lines within ${intervalMs / 1000} s were left out`,
    );
  }
}

function kindOf({ err }: Readonly<Record<string, unknown>>, text: string): string {
  const error = err instanceof Error ? `${err.name}: ${err.message}` : '';
  return `${text} ${error}`.slice(0, 300).replace(/[0-9A-F]{8,}|\d+/g, '#');
}
