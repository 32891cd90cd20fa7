import type { Logger } from '../../platform/output/logger.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';

/** Milliseconds between two checks. */
const intervalMs = 2_000;

interface LockWatchOptions {
  readonly folders: readonly { checkLocks(): Promise<readonly string[]> }[];
  readonly log: Pick<Logger, 'warn' | 'debug'>;
  /** Ends the process: another one has locked a folder of this server. */
  readonly fail: (message: string) => void;
}

/** Checks all the time that no other server can use the data folders of this one. It returns a function that ends the watch. */
export function watchLocks({ folders, log, fail }: LockWatchOptions): () => void {
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  const look = async (): Promise<void> => {
    for (const folder of folders) {
      try {
        for (const noticed of await folder.checkLocks()) log.warn({ event: 'lock-removed' }, noticed);
      } catch (error) {
        if (error instanceof ProgramError && error.code === 'in-use') return fail(error.message);
        // The watch of the stores says what is wrong with a folder that cannot be looked at.
        log.debug({ err: error }, 'the lock files could not be checked');
      }
    }
    if (!ended) timer = setTimeout(() => void look(), intervalMs).unref();
  };
  timer = setTimeout(() => void look(), intervalMs).unref();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
