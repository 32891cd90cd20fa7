import type { ApiError } from '../api/call.ts';

export interface Upload {
  readonly id: number;
  readonly bucket: string;
  readonly key: string;
  readonly size: number;
  readonly sent: number;
  readonly state:
    | { readonly kind: 'waiting' }
    | { readonly kind: 'sending' }
    | { readonly kind: 'done' }
    | { readonly kind: 'cancelled' }
    /** An object with this key exists, and the user decides. */
    | { readonly kind: 'exists' }
    | { readonly kind: 'failed'; readonly message: string };
}

export interface SendRequest {
  readonly bucket: string;
  readonly key: string;
  readonly file: Blob;
  /** Replaces an existing object. Without it, the server answers `PreconditionFailed`. */
  readonly replace: boolean;
  readonly signal: AbortSignal;
  readonly progress: (sent: number) => void;
}

/** Sends a file. Rejects with an `ApiError`, or with any error after an abort. */
export type Send = (request: SendRequest) => Promise<void>;

interface Job {
  readonly file: Blob;
  readonly abort: AbortController;
  replace: boolean;
}

/** Browsers open six connections to a host, and the pages need some of them. */
const breadth = 3;

/**
 * The uploads. The queue does not belong to a page, so that navigation does not stop it. Views subscribe to it, and each change
 * creates a new list.
 */
export class UploadQueue {
  readonly #send: Send;
  readonly #finished: (upload: Upload) => void;
  readonly #jobs = new Map<number, Job>();
  readonly #listeners = new Set<() => void>();
  #uploads: readonly Upload[] = [];
  #nextId = 1;

  /** `finished` is called after each upload, to refresh lists. */
  constructor(send: Send, finished: (upload: Upload) => void) {
    this.#send = send;
    this.#finished = finished;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly list = (): readonly Upload[] => this.#uploads;

  add(bucket: string, files: readonly { readonly key: string; readonly file: Blob }[]): void {
    const added = files.map(({ key, file }): Upload => {
      const id = this.#nextId++;
      this.#jobs.set(id, { file, abort: new AbortController(), replace: false });
      return { id, bucket, key, size: file.size, sent: 0, state: { kind: 'waiting' } };
    });
    this.#change([...this.#uploads, ...added]);
    this.#startNext();
  }

  cancel(id: number): void {
    this.#jobs.get(id)?.abort.abort();
    this.#set(id, { state: { kind: 'cancelled' } });
    this.#startNext();
  }

  /** Starts an upload again, after an error, a cancellation, or the user's decision to replace the object. */
  retry(id: number, { replace }: { readonly replace: boolean }): void {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    this.#jobs.set(id, { file: job.file, abort: new AbortController(), replace });
    this.#set(id, { state: { kind: 'waiting' }, sent: 0 });
    this.#startNext();
  }

  /** Removes all uploads that are not in progress. */
  clear(): void {
    const stays = this.#uploads.filter(isUnderWay);
    for (const { id } of this.#uploads) if (!stays.some((upload) => upload.id === id)) this.#jobs.delete(id);
    this.#change(stays);
  }

  #startNext(): void {
    const sending = this.#uploads.filter(({ state }) => state.kind === 'sending').length;
    const next = this.#uploads.filter(({ state }) => state.kind === 'waiting').slice(0, Math.max(0, breadth - sending));
    for (const upload of next) void this.#run(upload);
  }

  async #run({ id, bucket, key }: Upload): Promise<void> {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    this.#set(id, { state: { kind: 'sending' } });
    const { signal } = job.abort;
    const progress = (sent: number): void => {
      if (!signal.aborted) this.#set(id, { sent });
    };
    try {
      await this.#send({ bucket, key, file: job.file, replace: job.replace, signal, progress });
      if (signal.aborted) return;
      this.#set(id, { state: { kind: 'done' }, sent: job.file.size });
      const done = this.#uploads.find((upload) => upload.id === id);
      if (done !== undefined) this.#finished(done);
    } catch (error) {
      if (!signal.aborted) this.#set(id, { state: failureOf(error) });
    } finally {
      this.#startNext();
    }
  }

  #set(id: number, change: Partial<Upload>): void {
    this.#change(this.#uploads.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)));
  }

  #change(uploads: readonly Upload[]): void {
    this.#uploads = uploads;
    for (const listener of this.#listeners) listener();
  }
}

export function isUnderWay({ state }: Upload): boolean {
  return state.kind === 'waiting' || state.kind === 'sending';
}

function failureOf(error: unknown): Upload['state'] {
  const { code, message } = error as Partial<ApiError>;
  if (code === 'PreconditionFailed') return { kind: 'exists' };
  return { kind: 'failed', message: message ?? 'The upload failed.' };
}
