import { randomBytes } from 'node:crypto';
import { mapLimit } from '../../../platform/async/concurrency.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { connectionContext } from '../../auth/condition-keys.ts';
import type { ConsoleServices } from '../services.ts';
import type { SignInSession } from '../api/sign-in/sign-in-sessions.ts';
import { copyObject, deleteObject, etagOfCopy, type Place, renameObject, type SendS3 } from './transfer-object.ts';
import { targetKey } from '../../../protocol/console/transfer-target.ts';
import { refusal, type StoredTransfer } from './transfer.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

/** The services that a transfer uses. */
export interface TransferRun extends Pick<ConsoleServices, 's3' | 'objects' | 'access' | 'clock'> {
  /** The session whose rights the transfer has; undefined when it has ended. */
  readonly session: () => Promise<SignInSession | undefined>;
  /** Saves the progress. Resolves with false where the transfer must stop. */
  readonly save: (next: StoredTransfer) => Promise<boolean>;
  readonly signal: AbortSignal;
  /** True where another process began the transfer: it may have copied objects without saving the progress. */
  readonly isResumed: boolean;
}

/** The number of objects that are copied at the same time, and of those between two saves of the progress. */
const breadth = 5;
const perSave = 50;
/** Objects of the folders that are counted before the work begins. */
const maxCounted = 100_000;
const maxFailed = 20;

/** Works until the transfer is done, stopped, or its session has ended. What fails stays where it is, and is reported. */
export async function runTransfer(transfer: StoredTransfer, run: TransferRun): Promise<void> {
  await new TransferWork(transfer, run).work();
}

class TransferWork {
  #transfer: StoredTransfer;
  readonly #run: TransferRun;
  /** In a bucket that has or had versions the server renames nothing. */
  #renames: boolean;
  /** Until the first save, the objects may be those that the other process copied. */
  #isRepeated: boolean;

  constructor(transfer: StoredTransfer, run: TransferRun) {
    this.#transfer = transfer;
    this.#run = run;
    const { kind, target, bucket } = transfer.form;
    this.#renames = kind !== 'copy' && target.bucket === bucket;
    this.#isRepeated = run.isResumed;
  }

  async work(): Promise<void> {
    try {
      await this.#count();
      const { objects, folders } = this.#transfer.form;
      const entries = [...objects, ...folders];
      while (this.#transfer.entry < entries.length) {
        const entry = entries[this.#transfer.entry] ?? '';
        await (entry.endsWith('/') && this.#transfer.entry >= objects.length ? this.#folder(entry) : this.#objects());
      }
      await this.#run.save({ ...this.#transfer, state: 'done' });
    } catch (error) {
      if (isEnd(error) && error.code === 'interrupted') return;
      // Listing failed, for example because the bucket is gone: another process would fail in the same way. A failure of the server may pass.
      const isFinal = isEnd(error) || (error instanceof S3Error && error.status < 500);
      if (!isFinal) throw error;
      await this.#run.save({ ...this.#transfer, state: 'stopped', reason: error.message });
    }
  }

  /** Counts the objects, for the progress. */
  async #count(): Promise<void> {
    const { total, form } = this.#transfer;
    if (total !== undefined) return;
    let count = form.objects.length;
    for (const folder of form.folders) {
      for (let after: string | undefined = ''; after !== undefined;) {
        if (count > maxCounted) return;
        const page = await this.#list(folder, after, 1_000);
        count += page?.keys.length ?? 0;
        after = page?.next;
      }
    }
    await this.#save({ total: count });
  }

  /** Transfers the next of the chosen objects. */
  async #objects(): Promise<void> {
    const { entry, form } = this.#transfer;
    const next = form.objects.slice(entry, entry + perSave);
    await this.#transferAll(next.map((key) => ({ entry: key, key })));
    await this.#save({ entry: entry + next.length });
  }

  async #folder(folder: string): Promise<void> {
    const { entry, after } = this.#transfer;
    const page = await this.#list(folder, after, perSave);
    if (page === undefined) this.#failed(folder, new ResponseError('AccessDenied', this.#mayNotList()));
    await this.#transferAll((page?.keys ?? []).map((key) => ({ entry: folder, key })));
    await this.#save(page?.next === undefined ? { entry: entry + 1, after: '' } : { after: page.next });
  }

  #mayNotList(): string {
    return refusal({ action: 's3:ListBucket', resource: this.#transfer.form.bucket });
  }

  /** Resolves with undefined where the user may not list the folder. */
  async #list(folder: string, after: string, limit: number) {
    const { form } = this.#transfer;
    const { principal } = (await this.#session()).credentials;
    const context = { ...connectionContext(this.#origin(), this.#run.clock()), 's3:prefix': [folder] };
    const decision = await this.#run.access.authorize({
      principal,
      action: 's3:ListBucket',
      resource: form.bucket,
      context,
    });
    if (decision.kind === 'deny') return undefined;
    const listing = await this.#run.objects.listObjects({
      bucket: form.bucket,
      prefix: folder,
      delimiter: '',
      after,
      limit,
    });
    return { keys: listing.objects.map(({ key }) => key), next: listing.next };
  }

  async #transferAll(items: readonly { readonly entry: string; readonly key: string }[]): Promise<void> {
    await mapLimit(items, breadth, async ({ entry, key }) => {
      // The user may be disabled, or the session signed out, at any time.
      const send = this.#sender(await this.#session());
      try {
        await this.#one(send, entry, key);
        this.#transfer = { ...this.#transfer, done: this.#transfer.done + 1 };
      } catch (error) {
        if (!(error instanceof ResponseError)) throw error;
        this.#failed(key, error);
      }
    });
  }

  async #one(send: SendS3, entry: string, key: string): Promise<void> {
    const { bucket, target, kind, replace } = this.#transfer.form;
    const from = { bucket, key };
    const to = { bucket: target.bucket, key: targetKey(this.#transfer.form, entry, key) };
    if (this.#renames && (await renameObject(send, from, to.key, replace))) return;
    this.#renames = false;
    const etag = await this.#copy(send, from, to, replace);
    if (kind !== 'copy') await deleteObject(send, from, etag);
  }

  /** Resolves with the ETag of the copied object. A copy that the other process made before it ended is not a failure. */
  async #copy(send: SendS3, from: Place, to: Place, replace: boolean): Promise<string> {
    try {
      return await copyObject(send, from, to, replace);
    } catch (error) {
      const isTaken = error instanceof ResponseError && error.code === 'PreconditionFailed';
      const etag = isTaken && this.#isRepeated && !replace ? await etagOfCopy(send, from, to) : undefined;
      if (etag === undefined) throw error;
      return etag;
    }
  }

  #sender({ credentials }: SignInSession): SendS3 {
    return async ({ method, bucket, key, query = '', headers = {}, body = '' }) => {
      try {
        const answer = await this.#run.s3.run({
          principal: credentials.principal,
          origin: this.#origin(),
          requestId: randomBytes(8).toString('hex').toUpperCase(),
          method,
          bucket,
          key,
          rawQuery: query,
          headers,
          body,
        });
        const { error, denied } = answer;
        if (error === undefined || denied === undefined) return answer;
        return { ...answer, error: { code: error.code, message: refusal(denied) } };
      } catch (error) {
        if (error instanceof S3Error) throw new ResponseError(error.code, error.message);
        throw error;
      }
    };
  }

  #origin() {
    const { remoteAddress, secure } = this.#transfer;
    return { remoteAddress, secure };
  }

  async #session(): Promise<SignInSession> {
    if (this.#run.signal.aborted) throw new ResponseError('interrupted', 'the transfer was stopped');
    const session = await this.#run.session();
    if (session === undefined) throw new ResponseError('session-ended', 'The session that began it has ended.');
    return session;
  }

  #failed(key: string, error: Error): void {
    const { failures, failed } = this.#transfer;
    const shown = failed.length < maxFailed ? [...failed, { key, message: error.message }] : failed;
    this.#transfer = { ...this.#transfer, failures: failures + 1, failed: shown };
  }

  async #save(change: Partial<StoredTransfer>): Promise<void> {
    this.#transfer = { ...this.#transfer, ...change };
    if (!(await this.#run.save(this.#transfer))) throw new ResponseError('interrupted', 'the transfer was stopped');
    if (change.entry !== undefined || change.after !== undefined) this.#isRepeated = false;
  }
}

/** Reports if the whole transfer ends, and not one of its objects failed. */
function isEnd(error: unknown): error is ResponseError {
  return error instanceof ResponseError && (error.code === 'interrupted' || error.code === 'session-ended');
}
