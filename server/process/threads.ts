import type { TlsFiles } from '../../platform/tls/tls-files.ts';
import type { ServerSettings } from '../../platform/settings/server-settings.ts';
import type { ListenAddress } from '../../platform/listen.ts';
import type { HashingPlace } from '../objects/hashing/hashing.ts';
import type { ServiceAction } from '../administration/services.ts';
import type { Waiting } from './wait-for-dependencies.ts';
import type { ReplicasView } from '../replicas/replicas.ts';
import type { BlobsAddress, RecordsAddress } from '../store/store-address.ts';
import { Worker } from 'node:worker_threads';

/** What a thread is started with. */
export interface ThreadOptions {
  readonly role: 'http' | 'background' | 'hashing';
  /** The first HTTP thread says what all of them would say. */
  readonly first: boolean;
  readonly settings: ServerSettings;
  readonly stores: StoresOfThreads;
  /** Of this process, and no other ever. */
  readonly replica: string;
  readonly tls?: Pick<TlsFiles, 'certFile' | 'keyFile'>;
  /** Whether log lines go to a terminal, which a thread cannot see. */
  readonly terminal: boolean;
  readonly startedAt: number;
  /** Where the HTTP threads count requests, and the part of this one. */
  readonly counters: {
    readonly memory: SharedArrayBuffer;
    readonly buckets: SharedArrayBuffer;
    readonly thread: number;
  };
  /** Where all threads count the request bodies that they hold in memory. */
  readonly bodies: SharedArrayBuffer;
  /** By which they compute block sums one after the other. */
  readonly blockSums: SharedArrayBuffer;
  /** What was written last, for who looks on. */
  readonly live: LiveMemory;
  /** Where it is counted what becomes of audit entries; absent where they go nowhere. */
  readonly audit?: { readonly memory: SharedArrayBuffer };
  /** Where large bodies are hashed. */
  readonly hashing?: HashingPlace;
}

/** Rings of lines (`platform/line-ring.ts`): of the log, and of requests that are over while somebody wants to see them. */
export interface LiveMemory {
  readonly log: SharedArrayBuffer;
  readonly requests: SharedArrayBuffer;
}

interface StoresOfThreads {
  readonly records: RecordsAddress;
  readonly blobs: BlobsAddress;
  /** The folder that holds records and blobs, where one does, and the ID that it has had since it was made. */
  readonly folder?: { readonly deploymentId: string; readonly holdsBlobs: boolean };
  /** Where the bodies are, as metrics and administrators name it. */
  readonly place: string;
  /** Of each thread, to a database. */
  readonly connections: number;
}

/**
 * From the main thread. The order of a start: every thread opens its listener (`listen`); once one thread has reached the stores
 * and the key service all do (`prepare`); once all can serve they do (`serve`); once all serve, the readiness probe says so (`announce`).
 * So no probe promises what another thread, which may get the next connection, would still refuse. And of a stop: no thread is
 * ready any more (`leave`), though all serve on until the last one's clients have heard of it (`refuse`, `stop`).
 */
export type ToThread =
  | { readonly kind: 'listen'; readonly address: ListenAddress; readonly shared: boolean }
  /** Where S3 listens, before the stores are reached: what this server tells others of itself. */
  | { readonly kind: 'reach'; readonly endpoint: string }
  | { readonly kind: 'replicas'; readonly view: ReplicasView }
  | ({ readonly kind: 'waiting' } & Waiting)
  | { readonly kind: 'prepare'; readonly deploymentId: string }
  | { readonly kind: 'serve' }
  | { readonly kind: 'announce' }
  /** Whether somebody wants to see requests. */
  | { readonly kind: 'trace'; readonly on: boolean }
  | { readonly kind: 'freeze'; readonly on: boolean }
  /** What an administrator asked for by this thread has begun on all. */
  | { readonly kind: 'acted' }
  | { readonly kind: 'leave' }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'stop'; readonly drainMs: number };

/** To the main thread: `prepared` answers `prepare`, and so on. */
type FromThread =
  | { readonly kind: 'started' }
  | { readonly kind: 'listening'; readonly host: string; readonly port: number }
  | ({ readonly kind: 'waiting' } & Waiting)
  | { readonly kind: 'reached'; readonly deploymentId: string }
  | { readonly kind: 'replicas'; readonly view: ReplicasView }
  | { readonly kind: 'prepared' }
  | { readonly kind: 'serving' }
  | { readonly kind: 'stopped' }
  /** Answers `leave` and `freeze` of an HTTP thread. */
  | { readonly kind: 'changed' }
  /** An administrator asks for it. */
  | { readonly kind: 'service'; readonly action: ServiceAction }
  /** One more who wants to see requests, or one less. */
  | { readonly kind: 'tracing'; readonly watchers: 1 | -1 }
  /** Entries of the audit log, each a JSON document. */
  | { readonly kind: 'audit'; readonly lines: readonly string[] }
  /** The first large body came. */
  | { readonly kind: 'hashing-needed' }
  /** The process cannot go on; the message is for the person who runs it. */
  | { readonly kind: 'failed'; readonly message: string };

/** What a thread does with the messages. */
export interface Role {
  /** Errors end the process with their message. */
  handle(message: ToThread): Promise<void>;
}

export type Tell = (message: FromThread) => void;

/**
 * A small young generation is collected often, and the buffers of bodies that passed through go with it: docs/decisions/0004.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 12 };

type ThreadFailure = (message: string) => void;

/** One worker and the answers it owes. Its death, unless it was asked to stop, is a failure of the process. */
export class Thread {
  readonly #worker: Worker;
  readonly #name: string;
  readonly #onFailure: ThreadFailure;
  readonly #listeners = new Set<(message: FromThread) => void>();
  #stopping = false;

  constructor(options: ThreadOptions, onFailure: ThreadFailure) {
    this.#name = options.role;
    this.#onFailure = onFailure;
    this.#worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData: options, resourceLimits });
    this.#worker.on('message', (message: FromThread) => {
      if (message.kind === 'failed') this.#onFailure(message.message);
      for (const listener of this.#listeners) listener(message);
    });
    this.#worker.on('error', (error) => {
      const text = error instanceof Error ? error.message : String(error);
      this.#onFailure(`the ${this.#name} thread failed: ${text}`);
    });
    this.#worker.on('exit', (code) => {
      if (!this.#stopping) this.#onFailure(`the ${this.#name} thread ended with code ${code}`);
    });
  }

  /** Calls back for every message of the kind. */
  on<K extends FromThread['kind']>(kind: K, listener: (message: Extract<FromThread, { kind: K }>) => void): void {
    this.#listeners.add((message) => {
      if (isKind(message, kind)) listener(message);
    });
  }

  /** Resolves with the next message of the kind. */
  next<K extends FromThread['kind']>(kind: K): Promise<Extract<FromThread, { kind: K }>> {
    return new Promise((resolve) => {
      const listener = (message: FromThread) => {
        if (!isKind(message, kind)) return;
        this.#listeners.delete(listener);
        resolve(message);
      };
      this.#listeners.add(listener);
    });
  }

  tell(message: ToThread): void {
    if (message.kind === 'stop') this.#stopping = true;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
    this.#worker.postMessage(message);
  }

  /** Tells, and resolves with the answer of that kind. */
  ask<K extends FromThread['kind']>(message: ToThread, answer: K): Promise<Extract<FromThread, { kind: K }>> {
    const next = this.next(answer);
    this.tell(message);
    return next;
  }
}

function isKind<K extends FromThread['kind']>(
  message: FromThread,
  kind: K,
): message is Extract<FromThread, { kind: K }> {
  return message.kind === kind;
}

export { hashingPlaces } from '../objects/hashing/hashing.ts';

/** Starts the hashing thread of each place when the first HTTP thread there has a large body: a server of small objects has none. */
export function startWhenNeeded(
  http: readonly Thread[],
  places: readonly HashingPlace[],
  start: (place: HashingPlace) => Thread,
): void {
  const started = new Map<HashingPlace['memory'], Thread>();
  for (const [index, place] of places.entries()) {
    http[index]?.on('hashing-needed', () => {
      if (!started.has(place.memory)) started.set(place.memory, start(place));
    });
  }
}
