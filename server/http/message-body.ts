import type { IncomingMessage, ServerResponse } from 'node:http';
import { type BodyMemory, type BodySender, bodyBytesPassed, freeNow } from '../streams/body-memory.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { IncomingRequest } from './contract/request.ts';

type Body = IncomingRequest['body'];

/**
 * The body of a message. A read sends `100 Continue` to a client that waits for it. The body may stay unread.
 */
export class MessageBody implements Body {
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #awaitsContinue: boolean;
  readonly #memory: BodyMemory | undefined;
  #known = 0;
  #stranger = 0;

  /** @param awaitsContinue the client holds its body back until the server asks for it */
  constructor(message: IncomingMessage, response: ServerResponse, awaitsContinue: boolean, memory?: BodyMemory) {
    this.#message = message;
    this.#response = response;
    this.#awaitsContinue = awaitsContinue;
    this.#memory = memory;
  }

  hold(bytes: number, sender: BodySender): void {
    if (this.#memory === undefined) return;
    if (!this.#memory.take(bytes, sender)) {
      throw new S3Error('SlowDown', 'This server holds as many request bodies in memory as it may; try again later.');
    }
    if (sender === 'known') this.#known += bytes;
    else this.#stranger += bytes;
  }

  giveBack(chunk: Buffer): void {
    freeChunk(chunk);
  }

  senderGone(): boolean {
    // The end of a client that left looks as that of one that has sent everything. A long deletion stops for both, and answers.
    return this.#response.destroyed || this.#message.socket.readableEnded;
  }

  /** Gives back what was held, once the request is answered. */
  release(): void {
    if (this.#known > 0) this.#memory?.give(this.#known, 'known');
    if (this.#stranger > 0) this.#memory?.give(this.#stranger, 'stranger');
    this.#known = 0;
    this.#stranger = 0;
  }

  /** The rest is left unread when `take` fails. */
  pipe(take: (chunk: Buffer) => Promise<void> | undefined): Promise<void> {
    this.#begin();
    const message = this.#message;
    if (message.readableEnded) return Promise.resolve();
    // Its events have passed, so that no listener would be called.
    if (message.destroyed) return Promise.reject(message.errored ?? connectionEnded());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let taken: Promise<void> | undefined;
    let over = false;
    const onData = (chunk: Buffer) => {
      try {
        taken = take(chunk);
      } catch (error) {
        void stop(error);
        return;
      }
      if (taken === undefined) return;
      message.pause();
      taken.then(goOn, stop);
    };
    const goOn = () => {
      if (!over) message.resume();
    };
    const stop = async (reason: unknown) => {
      if (over) return;
      over = true;
      readers.delete(message);
      message.off('data', onData);
      message.pause();
      // A body that was handed over is not released while its reader still works on it.
      await Promise.allSettled([taken]);
      reject(reason);
    };
    readers.set(message, stop);
    message.on('data', onData);
    message.on('end', () => {
      if (over) return;
      over = true;
      resolve();
    });
    message.on('error', (error) => void stop(error));
    message.on('close', () => {
      // Each message closes: an error without a reader took 4 % of a PUT of 4 KiB.
      if (!over) void stop(connectionEnded());
    });
    return promise;
  }

  #begin(): void {
    if (this.#awaitsContinue && !this.#response.headersSent) this.#response.writeContinue();
  }
}

/**
 * Stops the reader of a message, which rejects. A request may be answered while its reader waits for a store that has failed: only one of the
 * reader and of those that read the rest may pause the message and take its chunks.
 */
const readers = new WeakMap<IncomingMessage, (reason: unknown) => Promise<void>>();

function stopReader(message: IncomingMessage): void {
  void readers.get(message)?.(new Error('the request was answered before its body was read'));
}

/** The smallest chunk whose memory is freed at once. For a PUT of 4 KiB that took 9 % more processor time than its garbage does. */
const minFreed = 16 * 1024;

/** The parser of Node copies each chunk into memory of its own. If it ever shares memory, that is left alone. */
function freeChunk(chunk: Buffer): void {
  if (chunk.length >= minFreed && chunk.length === chunk.buffer.byteLength) freeNow(chunk);
  else bodyBytesPassed(chunk.length);
}

function connectionEnded(): Error {
  return new Error('the connection ended before the body');
}

/**
 * The limits for reading the rest of a refused body. A client that only sends sees its answer when the server reads on. Most clients read
 * while they send, and close the connection when they see the answer: the server reads nothing before the next window.
 */
const drainLimit = { bytes: 64 * 1024 * 1024, ms: 10_000 } as const;

/**
 * The maximum number of refused connections that a thread reads on. It closes further ones at once, and their clients may see a reset
 * instead of the answer. Reading the bodies of many refused clients would take the thread from the other clients.
 */
const maxDraining = 32;
let draining = 0;

/**
 * A thread reads from refused clients in windows: from the next few of them, and from each until it has read its share or the bytes of the
 * window are used up. Clients on the same machine send as fast as memory is copied: without a limit the thread would do nothing else. Each
 * chunk is garbage of 64 KiB, whose collection took a third of the thread.
 */
const drainWindow = { ms: 50, bytes: 512 * 1024, messages: 16 } as const;
let drained = 0;
/** In the order of their turns. */
const paused = new Set<IncomingMessage>();

let window: NodeJS.Timeout | undefined;

function pauseUntilNextWindow(message: IncomingMessage): void {
  message.pause();
  paused.add(message);
  window ??= setTimeout(openWindow, drainWindow.ms);
}

function openWindow(): void {
  drained = 0;
  let messages = 0;
  for (const message of paused) {
    if (messages === drainWindow.messages) break;
    messages += 1;
    paused.delete(message);
    message.resume();
  }
  window = paused.size === 0 ? undefined : setTimeout(openWindow, drainWindow.ms);
}

/**
 * Gives turns at a fixed rate. The first one is given at once, and later ones wait. When `maxWaiting` callers wait, further ones get their turn
 * at once, so that memory is bounded.
 */
export class Pace {
  readonly #intervalMs: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor({ intervalMs, maxWaiting }: { readonly intervalMs: number; readonly maxWaiting: number }) {
    this.#intervalMs = intervalMs;
    this.#maxWaiting = maxWaiting;
  }

  /** Resolves when it is the caller's turn; returns undefined if that is now. */
  turn(): Promise<void> | undefined {
    if (this.#timer !== undefined && this.#waiting.length < this.#maxWaiting) {
      return new Promise((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    this.#timer ??= setTimeout(() => this.#next(), this.#intervalMs);
    return undefined;
  }

  #next(): void {
    const resolve = this.#waiting.shift();
    this.#timer = resolve === undefined ? undefined : setTimeout(() => this.#next(), this.#intervalMs);
    resolve?.();
  }
}

/**
 * The pace of a thread's refusals that close a connection: 125 a second. To open, refuse and close a connection takes half a millisecond, and
 * a client can open the next one as soon as it has its answer, so that a few clients without credentials would take a quarter of the thread.
 * At this pace the windows read on from every refused client, and none sees a reset instead of its answer.
 */
const refusals = new Pace({ intervalMs: 8, maxWaiting: 256 });

/**
 * Reports if a refusal waits for its turn: that of a caller whose rights are not known. Clients with credentials often send a body in vain (a
 * failed `If-None-Match`), and do not wait.
 */
function isPaced({ headers }: IncomingMessage, { statusCode }: ServerResponse): boolean {
  return statusCode === 403 || (statusCode >= 400 && headers.authorization === undefined);
}

/** The largest rest of a body that `node:http` reads after the answer, so that the connection can be reused, in bytes. */
const smallBody = 256 * 1024;

/** Reports if the rest of the request's body is too large to wait for, or the client waits for `100 Continue` before it sends. */
export function hasUnreadBody(message: IncomingMessage): boolean {
  if (message.complete || message.readableEnded) return false;
  const { headers } = message;
  if (headers['transfer-encoding'] !== undefined) return true;
  const size = Number(headers['content-length'] ?? 0);
  return size > 0 && (size > smallBody || headers.expect !== undefined);
}

/**
 * Reads the rest of a small body whose reader has failed. `node:http` reads only what nobody began to read, and the next request of the
 * connection would wait behind it.
 */
export function discardSmallBody(message: IncomingMessage): void {
  stopReader(message);
  if (message.readableEnded || !message.isPaused()) return;
  message.on('data', freeChunk);
  message.resume();
}

/**
 * Sends the answer at once and ends the response when the client has stopped sending. Closing a connection on which bytes still arrive
 * resets it, and the client may lose the answer. The head must contain `connection: close`.
 */
export async function finishUnread(message: IncomingMessage, response: ServerResponse, bytes: Buffer): Promise<void> {
  stopReader(message);
  if (isPaced(message, response)) await refusals.turn();
  // One string goes out with its head: refusals are short.
  const text = bytes.toString('latin1');
  if (draining >= maxDraining) {
    // The chunks that came with the head are freed at once: as garbage they make V8 mark the whole heap again and again.
    message.on('data', freeChunk);
    response.end(text, 'latin1');
    return;
  }
  if (text === '') response.flushHeaders();
  else response.write(text, 'latin1');
  draining += 1;
  await discard(message).finally(() => {
    draining -= 1;
  });
  response.end();
}

function discard(message: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let bytes = 0;
  const timer = setTimeout(resolve, drainLimit.ms);
  pauseUntilNextWindow(message);
  message.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    drained += chunk.length;
    freeChunk(chunk);
    if (bytes > drainLimit.bytes) resolve();
    else if (drained > drainWindow.bytes) pauseUntilNextWindow(message);
  });
  message.on('end', resolve);
  message.on('close', resolve);
  message.on('error', () => resolve());
  return promise.finally(() => {
    clearTimeout(timer);
    paused.delete(message);
  });
}
