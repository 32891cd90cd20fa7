import type { RootDatabase } from 'lmdb';
import { systemErrorCode } from '../../../platform/errors/system-error.ts';

/** The callback of lmdb-js 3.5 for the status of its write thread: 0 to 2 for progress and success, else the number of an error. */
type Finished = (status: number) => unknown;

interface NativeEnvironment {
  readonly startWriting: (address: number, finished: Finished) => unknown;
}

const LARGEST_PROGRESS = 2;

/**
 * The errors of the write thread of an environment. lmdb-js forgets one whose transaction waits for the end of the transaction before it,
 * and never settles `commitError` then. Where a transaction cannot begin, it does not answer at all.
 */
export class FailedWrites {
  readonly #now: () => number;
  #last: { readonly error: Error; readonly at: number } | undefined;

  /** `onFailed` is called after lmdb-js has rejected what it rejects. It must not throw. */
  constructor(root: RootDatabase<Buffer, Buffer>, onFailed: (error: Error) => void, now = () => performance.now()) {
    this.#now = now;
    // The types of lmdb-js do not have it.
    const { env } = root as unknown as { readonly env: NativeEnvironment };
    const start = env.startWriting.bind(env);
    const watched = (address: number, finished: Finished): unknown =>
      start(address, (status) => {
        const error = status >= 0 && status <= LARGEST_PROGRESS ? undefined : errorOf(status);
        if (error !== undefined) this.#last = { error, at: this.#now() };
        const answer = finished(status);
        if (error !== undefined) onFailed(error);
        return answer;
      });
    // The method of the class is read-only.
    Object.defineProperty(env, 'startWriting', { value: watched, configurable: true });
  }

  /** Returns the last one, if it is that of a commit which is rejected now. */
  recent(): Error | undefined {
    return this.#last !== undefined && this.#now() - this.#last.at < RECENT_MS ? this.#last.error : undefined;
  }
}

/** The commit is rejected when the transaction before it has ended, whose thread may wait for a processor. */
const RECENT_MS = 10_000;

/** As lmdb-js makes it, without the words. */
function errorOf(status: number): Error {
  const error = Object.assign(new Error('MDB_PANIC: a write before failed'), { code: status });
  if (status !== MDB_PANIC) error.message = `a write failed: ${systemErrorCode(error) ?? status}`;
  return error;
}

const MDB_PANIC = -30_795;
