import type { ResponseError } from '../../../protocol/response-error.ts';
import { renamedKey } from './part-plan.ts';
import { t } from '../texts/texts.ts';

export interface Upload {
  readonly id: number;
  readonly bucket: string;
  readonly key: string;
  readonly size: number;
  readonly sent: number;
  readonly state:
    | { readonly kind: 'waiting' }
    | { readonly kind: 'sending' }
    | { readonly kind: 'paused' }
    | { readonly kind: 'done' }
    | { readonly kind: 'cancelled' }
    | { readonly kind: 'skipped' }
    /** An object with this key exists, and the user decides. */
    | { readonly kind: 'exists' }
    | { readonly kind: 'failed'; readonly message: string };
}

/** The parts of a large file at the server. It stays through a pause and a retry. */
export interface Multipart {
  uploadId: string | undefined;
  /** Bytes. */
  partSize: number;
  /** By the number of the part. */
  readonly etags: Map<number, string>;
}

export interface SendRequest {
  readonly bucket: string;
  readonly key: string;
  readonly file: Blob;
  /** Replaces an existing object. Without it, the server answers `PreconditionFailed`. */
  readonly replace: boolean;
  readonly signal: AbortSignal;
  readonly multipart: Multipart;
  readonly progress: (sent: number) => void;
  /** Called when `multipart` has an upload ID, before its first part. */
  readonly begun: () => Promise<void>;
}

/** Sends a file. Rejects with an `ResponseError`, or with any error after an abort. */
export type Send = (request: SendRequest) => Promise<void>;

interface Job {
  readonly file: Blob;
  readonly multipart: Multipart;
  abort: AbortController;
  replace: boolean;
  /** How often it got a new name. */
  renamed: number;
}

interface AddedFile {
  readonly key: string;
  readonly file: Blob;
  readonly replace?: boolean;
  /** The upload in parts that it continues. */
  readonly multipart?: { readonly uploadId: string; readonly partSize: number };
}

interface QueueEvents {
  /** Called after each upload, to refresh lists. */
  readonly finished: (upload: Upload) => void;
  /** Called when an upload in parts has begun at the server. */
  readonly begun?: (upload: Upload, file: Blob, multipart: Multipart, replace: boolean) => Promise<void>;
  /** Called when an upload in parts is given up. */
  readonly abandoned?: (upload: Upload, uploadId: string) => void;
}

/** Browsers open six connections to a host, and the pages need some of them. */
const breadth = 3;

/**
 * The uploads. The queue does not belong to a page, so that navigation does not stop it. Views subscribe to it, and each change
 * creates a new list.
 */
export class UploadQueue {
  readonly #send: Send;
  readonly #events: QueueEvents;
  readonly #jobs = new Map<number, Job>();
  readonly #listeners = new Set<() => void>();
  #uploads: readonly Upload[] = [];
  #nextId = 1;

  constructor(send: Send, events: QueueEvents) {
    this.#send = send;
    this.#events = events;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly list = (): readonly Upload[] => this.#uploads;

  add(bucket: string, files: readonly AddedFile[]): void {
    const added = files.map(({ key, file, replace = false, multipart }): Upload => {
      const id = this.#nextId++;
      this.#jobs.set(id, {
        file,
        multipart: { uploadId: multipart?.uploadId, partSize: multipart?.partSize ?? 0, etags: new Map() },
        abort: new AbortController(),
        replace,
        renamed: 0,
      });
      return { id, bucket, key, size: file.size, sent: 0, state: { kind: 'waiting' } };
    });
    this.#change([...this.#uploads, ...added]);
    this.#startNext();
  }

  /** Stops sending. What the server has of a large file stays there, and `resume` goes on behind it. */
  pause(id: number): void {
    this.#jobs.get(id)?.abort.abort();
    this.#set(id, { state: { kind: 'paused' } });
    this.#startNext();
  }

  pauseAll(): void {
    for (const upload of this.#uploads) if (isUnderWay(upload)) this.#jobs.get(upload.id)?.abort.abort();
    this.#change(this.#uploads.map((one) => (isUnderWay(one) ? { ...one, state: { kind: 'paused' } } : one)));
  }

  resume(id: number): void {
    this.retry(id, {});
  }

  resumeAll(): void {
    this.#again(({ state }) => state.kind === 'paused' || state.kind === 'failed');
  }

  cancel(id: number): void {
    const job = this.#jobs.get(id);
    job?.abort.abort();
    this.#giveUp(id);
    this.#set(id, { state: { kind: 'cancelled' }, sent: 0 });
    this.#startNext();
  }

  /** Starts an upload again, after a pause, an error, a cancellation, or the user's decision to replace the object. */
  retry(id: number, { replace }: { readonly replace?: boolean }): void {
    this.#again((upload) => upload.id === id, replace);
  }

  /** Decides for all uploads whose keys are taken. */
  decideAll(decision: 'replace' | 'skip' | 'rename'): void {
    if (decision === 'replace') return this.#again(isTaken, true);
    for (const upload of this.#uploads.filter(isTaken)) {
      if (decision === 'rename') this.rename(upload.id);
      else this.#giveUp(upload.id);
    }
    this.#change(this.#uploads.map((one) => (isTaken(one) ? { ...one, state: { kind: 'skipped' } } : one)));
  }

  /** Sends the file under another key, because its own is taken. */
  rename(id: number): void {
    const job = this.#jobs.get(id);
    const upload = this.#uploads.find((one) => one.id === id);
    if (job === undefined || upload === undefined) return;
    this.#giveUp(id);
    job.renamed += 1;
    const original = job.renamed === 1 ? upload.key : upload.key.replace(` (${job.renamed - 1})`, '');
    this.#set(id, { key: renamedKey(original, job.renamed) });
    this.#again((one) => one.id === id);
  }

  /** Removes all uploads that are not in progress. */
  clear(): void {
    const stays = this.#uploads.filter((upload) => isUnderWay(upload) || upload.state.kind === 'paused');
    const ids = new Set(stays.map(({ id }) => id));
    for (const { id } of this.#uploads) if (!ids.has(id)) this.#jobs.delete(id);
    this.#change(stays);
  }

  #again(which: (upload: Upload) => boolean, replace?: boolean): void {
    this.#change(
      this.#uploads.map((upload) => {
        const job = this.#jobs.get(upload.id);
        if (job === undefined || !which(upload)) return upload;
        job.abort = new AbortController();
        if (replace !== undefined) job.replace = replace;
        return { ...upload, state: { kind: 'waiting' } };
      }),
    );
    this.#startNext();
  }

  #giveUp(id: number): void {
    const job = this.#jobs.get(id);
    const upload = this.#uploads.find((one) => one.id === id);
    const uploadId = job?.multipart.uploadId;
    if (job === undefined || upload === undefined || uploadId === undefined) return;
    job.multipart.uploadId = undefined;
    job.multipart.etags.clear();
    this.#events.abandoned?.(upload, uploadId);
  }

  #startNext(): void {
    const sending = this.#uploads.filter(({ state }) => state.kind === 'sending').length;
    const next = this.#uploads.filter(({ state }) => state.kind === 'waiting').slice(0, Math.max(0, breadth - sending));
    for (const upload of next) void this.#run(upload);
  }

  async #run(upload: Upload): Promise<void> {
    const { id, bucket, key } = upload;
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    this.#set(id, { state: { kind: 'sending' } });
    const { file, multipart, replace } = job;
    const { signal } = job.abort;
    const progress = (sent: number): void => {
      if (!signal.aborted) this.#set(id, { sent });
    };
    const begun = async () => this.#events.begun?.(upload, file, multipart, replace);
    try {
      await this.#send({ bucket, key, file, replace, signal, multipart, progress, begun });
      if (signal.aborted) return;
      this.#set(id, { state: { kind: 'done' }, sent: file.size });
      const done = this.#uploads.find((one) => one.id === id);
      if (done !== undefined) this.#events.finished(done);
    } catch (error) {
      if (!signal.aborted) this.#set(id, { state: failureOf(error) });
    } finally {
      this.#startNext();
    }
  }

  #set(id: number, change: Partial<Upload>): void {
    const at = this.#uploads.findIndex((upload) => upload.id === id);
    const upload = this.#uploads[at];
    if (upload !== undefined) this.#change(this.#uploads.with(at, { ...upload, ...change }));
  }

  #change(uploads: readonly Upload[]): void {
    this.#uploads = uploads;
    for (const listener of this.#listeners) listener();
  }
}

function isTaken({ state }: Upload): boolean {
  return state.kind === 'exists';
}

export function isUnderWay({ state }: Upload): boolean {
  return state.kind === 'waiting' || state.kind === 'sending';
}

/** Uploads that need the user come first, then those that are under way. */
const order = ['failed', 'exists', 'paused', 'sending', 'waiting', 'cancelled', 'skipped', 'done'] as const;

export function inOrder(uploads: readonly Upload[]): readonly Upload[] {
  return order.flatMap((kind) => uploads.filter(({ state }) => state.kind === kind));
}

function failureOf(error: unknown): Upload['state'] {
  const { code, message } = error as Partial<ResponseError>;
  if (code === 'PreconditionFailed') return { kind: 'exists' };
  return { kind: 'failed', message: message ?? t.uploads.theUploadFailed };
}
