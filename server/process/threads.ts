import type { TlsFiles } from '../../platform/tls/tls-files.ts';
import type { ServerSettings } from '../../platform/settings/server-settings.ts';
import type { ListenAddress } from '../../platform/http/listen.ts';
import type { HashingPlace } from '../objects/hashing/hashing.ts';
import type { ServiceAction } from '../administration/services.ts';
import type { Waiting } from './wait-for-dependencies.ts';
import type { BucketList } from '../observability/metrics/bucket-list.ts';
import type { ClusterView } from '../cluster/membership.ts';
import type { BlobsAddress, RecordsAddress } from '../../platform/store-address/store-address.ts';
import type { ProfileKind } from '../administration/diagnostics.ts';
import type { ProfileFile } from '../diagnostics/profile-thread.ts';
import { Worker } from 'node:worker_threads';

/** The options of a thread. */
export interface ThreadOptions {
  readonly role: 'http' | 'background' | 'hashing';
  /** The first HTTP thread logs the messages that all threads would log. */
  readonly first: boolean;
  readonly settings: ServerSettings;
  readonly stores: StoreOptions;
  /** A unique ID of this process. */
  readonly serverId: string;
  readonly tls?: Pick<TlsFiles, 'certFile' | 'keyFile'>;
  readonly startedAt: number;
  /** The shared memory of the request metrics, and the index of this thread. */
  readonly counters: {
    readonly memory: SharedArrayBuffer;
    readonly buckets: SharedArrayBuffer;
    readonly thread: number;
  };
  /** The shared count of the request bodies in memory. */
  readonly bodies: SharedArrayBuffer;
  /** The shared mutex of the block sums. */
  readonly blockSums: SharedArrayBuffer;
  /** The last log lines and requests, for administrators who follow them. */
  readonly live: LiveMemory;
  /** The shared counters of audit entries; absent without an audit log. */
  readonly audit?: { readonly memory: SharedArrayBuffer };
  /** The shared memory of a hashing thread. */
  readonly hashing?: HashingPlace;
}

/** Rings of lines (`server/shared-memory/line-ring.ts`): of the log, and of finished requests while a client follows the trace. */
export interface LiveMemory {
  readonly log: SharedArrayBuffer;
  /** The count of the lines that the logs of the threads have dropped. */
  readonly droppedLines: SharedArrayBuffer;
  readonly requests: SharedArrayBuffer;
  /** Events of objects and buckets, while a client listens. */
  readonly events: SharedArrayBuffer;
}

interface StoreOptions {
  readonly records: RecordsAddress;
  readonly blobs: BlobsAddress;
  /** The data folder of records and blobs, if there is one, and its deployment ID. */
  readonly folder?: { readonly deploymentId: string; readonly holdsBlobs: boolean };
  /** The address of the blobs, as metrics and administrators see it. */
  readonly place: string;
  /** The number of connections of each thread to a database. */
  readonly connections: number;
  /** The shared memory of the newest primary of that database. */
  readonly newestPrimary: SharedArrayBuffer;
}

/**
 * The messages of the main thread. At the start each thread opens its listener (`listen`). When the background thread has reached the
 * stores and the key service, all threads open them (`prepare`). When all can answer requests, they do (`serve`). When all do, the
 * readiness probe succeeds (`announce`): a client of a ready server may reach any of the threads. At a stop all threads become unready
 * (`unready`) and answer requests until the clients had time to notice (`refuse`, `stop`).
 */
export type ToThread =
  | {
      readonly kind: 'listen';
      readonly address: ListenAddress;
      readonly shared: boolean;
      /** The address of the websites, if buckets may be websites. */
      readonly website?: ListenAddress | undefined;
    }
  /** The S3 address of this server, which the other servers see. */
  | { readonly kind: 'endpoint'; readonly endpoint: string }
  | { readonly kind: 'cluster'; readonly view: ClusterView }
  | ({ readonly kind: 'waiting' } & Waiting)
  /** Why a write would fail now; absent when none would. */
  | { readonly kind: 'store-fault'; readonly fault: Waiting | undefined }
  /** The buckets whose requests are counted apart. */
  | { readonly kind: 'bucket-list'; readonly list: BucketList }
  | { readonly kind: 'bucket-list-needed' }
  | { readonly kind: 'prepare'; readonly deploymentId: string }
  | { readonly kind: 'serve' }
  | { readonly kind: 'announce' }
  /** Turns the recording of requests on or off. */
  | { readonly kind: 'trace'; readonly on: boolean }
  /** Turns the reporting of events to listeners on or off. */
  | { readonly kind: 'hear'; readonly on: boolean }
  | { readonly kind: 'freeze'; readonly on: boolean }
  /** Profiles the thread. Each thread does it itself, whatever its role. */
  | {
      readonly kind: 'profile';
      readonly name: string;
      readonly kinds: readonly ProfileKind[];
      readonly durationMs: number;
    }
  /** The profiles of all threads, for the request of this one. */
  | {
      readonly kind: 'profiles';
      readonly id: number;
      readonly files: readonly ProfileFile[];
      readonly missing: readonly string[];
    }
  /** All threads have acknowledged the action of this thread's administrator. */
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'unready' }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'stop'; readonly drainMs: number }
  /** No HTTP thread has a request left. The background thread then lets this server leave the others. */
  | { readonly kind: 'requests-ended' };

/** The messages to the main thread. `prepared` answers `prepare`, and so on. */
type FromThread =
  | { readonly kind: 'started' }
  | { readonly kind: 'listening'; readonly host: string; readonly port: number }
  | ({ readonly kind: 'waiting' } & Waiting)
  | { readonly kind: 'store-fault'; readonly fault: Waiting | undefined }
  | { readonly kind: 'dependencies-ready'; readonly deploymentId: string }
  | { readonly kind: 'cluster'; readonly view: ClusterView }
  | { readonly kind: 'prepared' }
  | { readonly kind: 'serving' }
  | { readonly kind: 'stopped' }
  /** Answers `unready` and `freeze` of an HTTP thread. */
  | { readonly kind: 'done' }
  /** An administrator requests the action. */
  | { readonly kind: 'service'; readonly action: ServiceAction }
  /** An administrator requests profiles of all threads. */
  | {
      readonly kind: 'profile';
      readonly id: number;
      readonly kinds: readonly ProfileKind[];
      readonly durationMs: number;
    }
  /** Answers `profile`. */
  | { readonly kind: 'profiled'; readonly files: readonly ProfileFile[] }
  /** One more or one less client that follows the trace. */
  | { readonly kind: 'tracing'; readonly watchers: 1 | -1 }
  /** One more or one less client that listens to events. */
  | { readonly kind: 'listening-events'; readonly listeners: 1 | -1 }
  /** Entries of the audit log, each a JSON document. */
  | { readonly kind: 'audit'; readonly lines: readonly string[] }
  | { readonly kind: 'bucket-list'; readonly list: BucketList }
  /** A bucket was used that the list does not have. */
  | { readonly kind: 'bucket-list-needed' }
  /** A large body has arrived, and the hashing thread does not run yet. */
  | { readonly kind: 'hashing-needed' }
  /** The process cannot continue. The message is for its operator. */
  | { readonly kind: 'failed'; readonly message: string };

/** The handler of a thread's messages. */
export interface Role {
  /** A rejection ends the process with its message. */
  handle(message: Exclude<ToThread, { kind: 'profile' }>): Promise<void>;
}

export type SendMessage = (message: FromThread) => void;

/** V8 collects a small young generation often, together with the buffers of finished bodies: docs/decisions/0004. */
const resourceLimits = { maxYoungGenerationSizeMb: 12 };

type ThreadFailure = (message: string) => void;

/** A worker with its messages. Its end is a failure of the process unless it was asked to stop. */
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

  /** Calls back for each message of the kind. */
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

  send(message: ToThread): void {
    if (message.kind === 'stop') this.#stopping = true;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
    this.#worker.postMessage(message);
  }

  /** Sends a message and resolves with its answer. */
  request<K extends FromThread['kind']>(message: ToThread, answer: K): Promise<Extract<FromThread, { kind: K }>> {
    const next = this.next(answer);
    this.send(message);
    return next;
  }
}

function isKind<K extends FromThread['kind']>(
  message: FromThread,
  kind: K,
): message is Extract<FromThread, { kind: K }> {
  return message.kind === kind;
}
