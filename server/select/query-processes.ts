import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism, setPriority, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Chunks } from '../streams/chunks.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { codeFolders } from './code-folders.ts';
import { type QueryCaller, QueryQueue } from './query-queue.ts';
import type { QueryBudget } from './query-budget.ts';
import type { FromQuery, ToQuery } from './select-messages.ts';
import type { SelectRequest } from './select-request.ts';

/** The object that a query reads. */
interface QueriedObject {
  /** Bytes of plaintext. */
  readonly size: number;
  /** Opens a range of the plaintext; `end` is exclusive. */
  read(start: number, end: number): Promise<Buffer | Chunks>;
}

/** Queries that a thread runs at a time. Two accounts at least run one, however many one of them sends. */
const maxRunning = 2;
const queueLimits = { running: maxRunning, runningOfAccount: 1, waiting: 32, waitingOfAccount: 8 };
/** MiB of memory that this server may use: of its container, if that has a limit. */
const memoryMiB = Math.min(process.constrainedMemory() || Infinity, totalmem()) / 2 ** 20;
/** MiB of the heap of a process: those of a thread for each core take half of the memory at most. A row group of Parquet needs most. */
const heapMiB = Math.min(768, Math.floor(memoryMiB / 2 / (maxRunning * availableParallelism())));
/** Milliseconds that a process without a query is kept. It takes 0.1 to 0.3 s to start one. */
const idleMs = 30_000;

/**
 * Milliseconds in which a process must ask for bytes or send a message. A row group of Parquet takes seconds, a damaged one could take hours,
 * and the departure of a client is noticed only when it is sent something.
 */
const watchdogMs = 30_000;

/** As `nice` counts it: a query takes the processor time that requests leave. */
const priority = 10;

const entry = fileURLToPath(new URL('./query-process.ts', import.meta.url));
const codePaths = codeFolders(entry);

/**
 * Runs queries in processes of their own, for a thread of the server. A hostile file can make V8 abort its process (an array that grows
 * beyond the heap does so in a worker thread too), and a query computes for seconds where a request must not.
 */
export class QueryProcesses {
  readonly #idle: ChildProcess[] = [];
  readonly #queue = new QueryQueue(queueLimits);

  /**
   * Starts a query, and returns the messages of its answer. The caller closes them, which ends the query.
   *
   * @throws S3Error of the query before its first message, Busy if too many queries wait, RequestTimeout if the client left before
   */
  async run(
    request: SelectRequest,
    object: QueriedObject,
    { now, budget, ...caller }: QueryCaller & { readonly now: Date; readonly budget: QueryBudget },
  ): Promise<Chunks<'own'>> {
    const leave = await this.#queue.enter(caller);
    let child: ChildProcess;
    try {
      child = this.#take();
    } catch (error) {
      leave();
      throw error;
    }
    const query = new RunningQuery(child, object, (left) => {
      if (left !== undefined) this.#keep(left);
      leave();
    });
    query.start({ kind: 'start', request, size: object.size, now: now.getTime(), budget });
    return query;
  }

  #take(): ChildProcess {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      // The system may have ended it meanwhile. Its exit and the end of its channel are told one after the other.
      if (!idle.connected || idle.exitCode !== null || idle.signalCode !== null) continue;
      idle.ref();
      return idle;
    }
    const child = fork(entry, [], {
      serialization: 'advanced',
      execArgv: [
        ...process.execArgv.filter((one) => !one.startsWith('--inspect')),
        `--max-old-space-size=${heapMiB}`,
        // It reads no file but its code, writes none, and has no network, no programs, no threads and no addons.
        '--permission',
        ...codePaths.map((path) => `--allow-fs-read=${path}`),
      ],
      // It gets no settings of the server, which have secrets, and no compile cache: who can write there runs code in the server.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    lowerPriority(child);
    // An error without a listener would end the server, and a query listens only while it runs.
    child.on('error', () => undefined);
    return child;
  }

  /** Keeps a process for another query. */
  #keep(child: ChildProcess): void {
    this.#idle.push(child);
    child.unref();
    child.channel?.unref();
    setTimeout(() => this.#end(child), idleMs).unref();
  }

  #end(child: ChildProcess): void {
    const at = this.#idle.indexOf(child);
    if (at < 0) return;
    this.#idle.splice(at, 1);
    child.kill('SIGKILL');
  }
}

function lowerPriority({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, priority);
  } catch {
    // It has ended, which its exit reports.
  }
}

/** A query that a process runs: it pulls the bytes of the object, and its messages are pulled. */
class RunningQuery implements Chunks<'own'> {
  readonly ownership = 'own';
  readonly #child: ChildProcess;
  readonly #object: QueriedObject;
  readonly #leave: (child: ChildProcess | undefined) => void;
  #reading: Chunks | undefined;
  /** Settles the `next` that waits. */
  #settle:
    { readonly resolve: (message: Buffer | undefined) => void; readonly reject: (error: unknown) => void } | undefined;
  #ready: Buffer | undefined;
  #owesTaken = false;
  /** Ends a process that computes for too long. It runs while the process owes a message. */
  #watchdog: NodeJS.Timeout | undefined;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #closed = false;
  #busy: Promise<void> = Promise.resolve();

  constructor(child: ChildProcess, object: QueriedObject, leave: (child: ChildProcess | undefined) => void) {
    this.#child = child;
    this.#object = object;
    this.#leave = leave;
    child.on('message', this.#onMessage);
    child.once('exit', this.#onExit);
    child.once('error', this.#onError);
  }

  start(message: ToQuery): void {
    this.#send(message);
  }

  next(): Promise<Buffer | undefined> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    const ready = this.#ready;
    this.#ready = undefined;
    if (ready !== undefined) return Promise.resolve(ready);
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      if (!this.#owesTaken) return;
      this.#owesTaken = false;
      this.#send({ kind: 'taken' });
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#watchdog);
    this.#child.off('message', this.#onMessage);
    this.#child.off('exit', this.#onExit);
    this.#child.off('error', this.#onError);
    // A process that is in the middle of a query is not asked to stop: it may compute.
    const isReusable = this.#ended && this.#failure === undefined && this.#child.connected;
    if (!isReusable) this.#child.kill('SIGKILL');
    await this.#busy;
    await this.#closeReading();
    this.#leave(isReusable ? this.#child : undefined);
  }

  readonly #onMessage = (message: FromQuery): void => {
    clearTimeout(this.#watchdog);
    switch (message.kind) {
      case 'open':
        return this.#serve(() => this.#open(message.start, message.end));
      case 'next':
        return this.#serve(() => this.#nextChunk());
      case 'message':
        this.#owesTaken = true;
        return this.#give(Buffer.from(message.bytes));
      case 'end':
        this.#ended = true;
        return this.#give(undefined);
      case 'failed':
        // The process is sound, and so another query may use it.
        this.#ended = message.code !== undefined;
        return this.#fail(
          message.code === undefined
            ? new Error(`the query failed: ${message.message}`)
            : new S3Error(message.code, message.message),
        );
      default:
        return message satisfies never;
    }
  };

  /** The process could not be started: the machine has no descriptors, processes or memory left. */
  readonly #onError = (error: Error): void => {
    clearTimeout(this.#watchdog);
    this.#fail(this.#child.pid === undefined ? error : new Error('a query process failed', { cause: error }));
  };

  readonly #onExit = (): void => {
    clearTimeout(this.#watchdog);
    if (this.#ended) return;
    this.#fail(
      new S3Error(
        'OverMaxRecordSize',
        `The query needs more than ${heapMiB} MiB of memory, or ${watchdogMs / 1_000} s for a part of its records, or its file is damaged.`,
      ),
    );
  };

  #give(message: Buffer | undefined): void {
    const settle = this.#settle;
    this.#settle = undefined;
    if (settle !== undefined) settle.resolve(message);
    else this.#ready = message;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#settle?.reject(error);
    this.#settle = undefined;
  }

  #send(message: ToQuery): void {
    clearTimeout(this.#watchdog);
    // Its exit may have been reported before this query took it.
    // One that was not started reports that itself.
    if (this.#child.pid === undefined) return undefined;
    if (!this.#child.connected) return this.#onExit();
    this.#watchdog = setTimeout(() => this.#child.kill('SIGKILL'), watchdogMs);
    // The callback takes the error of a process that has just ended; its exit is reported.
    this.#child.send(message, () => undefined);
  }

  /** Answers with a chunk. A failure of the store ends the query: its connection is cut, as that of a GET. */
  #serve(read: () => Promise<Uint8Array | undefined>): void {
    this.#busy = this.#answer(this.#busy, read);
  }

  async #answer(before: Promise<void>, read: () => Promise<Uint8Array | undefined>): Promise<void> {
    await before;
    if (this.#closed || this.#failure !== undefined) return;
    try {
      const bytes = await read();
      if (!this.#closed) this.#send({ kind: 'chunk', bytes });
    } catch (error) {
      this.#fail(error);
      this.#child.kill('SIGKILL');
    }
  }

  async #open(start: number, end: number): Promise<Uint8Array | undefined> {
    await this.#closeReading();
    if (start === end) return undefined;
    const body = await this.#object.read(start, end);
    if (Buffer.isBuffer(body)) return body;
    this.#reading = body;
    return this.#nextChunk();
  }

  async #nextChunk(): Promise<Uint8Array | undefined> {
    return this.#reading?.next();
  }

  async #closeReading(): Promise<void> {
    const reading = this.#reading;
    this.#reading = undefined;
    await reading?.close();
  }
}
