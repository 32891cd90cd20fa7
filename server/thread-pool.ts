/** Node's own number: for files, names and whatever else is asked of the system. */
const FOR_FILES = 4;
/** A store's handle may have one writer that holds LMDB's lock while it waits for its thread, and one that waits for the lock. */
const FOR_WRITERS = 2;

/**
 * Says how many threads wait on the disk for this process. LMDB's writers hold theirs while they wait for each other, and with Node's
 * four all reads of files would stand behind them. To be called before anything is asked of the file system; who set a number keeps it.
 *
 * @see https://docs.libuv.org/en/v1.x/threadpool.html
 */
export function sizeThreadPool(env: NodeJS.ProcessEnv, cores: number): void {
  // As many threads serve HTTP as there are cores, and one works in the background.
  env['UV_THREADPOOL_SIZE'] ??= String(FOR_FILES + FOR_WRITERS * (cores + 1));
}
