import { systemErrorCode } from '../errors/system-error.ts';

/** Bytes of lines that each thread keeps while nobody reads the log. */
const maxWaitingBytes = 256 * 1024;
/** Milliseconds between two attempts to write what waits. */
const retryMs = 100;
/** Milliseconds that an end of the process waits for the reader of the log, and between two attempts within them. */
const lastMs = 500;
const lastRetryMs = 10;

interface LogOutputOptions {
  /** Writes without waiting for a reader, as `write(2)` does: it may write a part, or throws EAGAIN. */
  readonly write: (bytes: Buffer) => number;
  /** Returns the line that says how many lines are missing at its place. */
  readonly droppedLine: (count: number) => string;
  readonly maxBytes?: number;
}

/** Bytes for the reader, and the count of lines that are lost if it does not get them. */
interface Chunk {
  readonly bytes: Buffer;
  readonly lines: number;
  /** The line says how many lines were dropped. They are counted already. */
  readonly isCounted: boolean;
}

export function droppedLinesMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
}

let droppedLines = new BigInt64Array(droppedLinesMemory());

/** Counts the lines that the logs of this thread drop in memory that threads share. A thread calls it before its first line. */
export function countDroppedLinesIn(memory: SharedArrayBuffer): void {
  droppedLines = new BigInt64Array(memory);
}

/** The help text of the metric. */
export const droppedLogLinesHelp =
  'Lines of the log that its reader did not read in time, or that could not be written';

/** Returns how many lines the logs have dropped since the start: those of this thread, or of all that share their count. */
export function droppedLogLines(): number {
  return Number(Atomics.load(droppedLines, 0));
}

function countDropped(lines: number): void {
  Atomics.add(droppedLines, 0, BigInt(lines));
}

/** The outputs of this thread that have written a line. */
const outputs = new Set<LogOutput>();

/**
 * Writes what waits for the readers of the logs, before this thread or the process ends. It blocks the thread for half a second at most for each
 * log.
 */
export function flushLogOutputs(): void {
  for (const output of outputs) output.flush();
}

/**
 * The output of a thread's log. A line is out when `write` returns, so that it outlives the process, unless the reader of the log does not read.
 * Then lines wait in a bounded ring: new ones replace the oldest ones, and a line says how many are missing. The thread never waits.
 */
export class LogOutput {
  readonly #options: LogOutputOptions;
  readonly #maxBytes: number;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** The rest of the line of which the reader may have a part. */
  #current: Chunk | undefined;
  #dropped = 0;
  #retries = false;

  constructor(options: LogOutputOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? maxWaitingBytes;
  }

  write(line: string): void {
    outputs.add(this);
    const bytes = Buffer.from(line);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (!this.#send() && !this.#retries) this.#retryLater();
    while (this.#waitingBytes > this.#maxBytes) this.#dropOldest();
  }

  flush(): void {
    const timer = new Int32Array(new SharedArrayBuffer(4));
    for (let waited = 0; !this.#send() && waited < lastMs; waited += lastRetryMs)
      Atomics.wait(timer, 0, 0, lastRetryMs);
  }

  #retryLater(): void {
    this.#retries = true;
    setTimeout(() => {
      this.#retries = false;
      if (!this.#send()) this.#retryLater();
    }, retryMs).unref();
  }

  /** Returns false if lines still wait for the reader. */
  #send(): boolean {
    try {
      for (;;) {
        this.#current ??= this.#next();
        if (this.#current === undefined) return true;
        const { bytes, ...rest } = this.#current;
        const written = this.#options.write(bytes);
        this.#current = written < bytes.length ? { bytes: bytes.subarray(written), ...rest } : undefined;
      }
    } catch (error) {
      if (systemErrorCode(error) === 'EAGAIN') return false;
      // The reader is gone, or the disk is full. The program goes on.
      this.#dropAll();
      return true;
    }
  }

  #next(): Chunk | undefined {
    if (this.#waiting.length > 0 && this.#dropped > 0) {
      const lines = this.#dropped;
      this.#dropped = 0;
      return { bytes: Buffer.from(this.#options.droppedLine(lines)), lines, isCounted: true };
    }
    const bytes = this.#waiting.shift();
    this.#waitingBytes -= bytes?.length ?? 0;
    return bytes && { bytes, lines: 1, isCounted: false };
  }

  #dropOldest(): void {
    this.#waitingBytes -= this.#waiting.shift()?.length ?? 0;
    this.#dropped += 1;
    countDropped(1);
  }

  #dropAll(): void {
    const { lines, isCounted } = this.#current ?? { lines: 0, isCounted: true };
    this.#dropped += this.#waiting.length + lines;
    countDropped(this.#waiting.length + (isCounted ? 0 : lines));
    this.#current = undefined;
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
  }
}
