import { randomBytes } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProgramError } from '../../platform/errors/program-error.ts';

/** Milliseconds. The owner touches its lock more often. The owner of an older one was killed, or its machine was. */
const staleMs = 60_000;
const touchMs = 10_000;

/** Milliseconds. */
const pollMs = { min: 10, max: 50 };

/** The program that holds a lock. */
interface Owner {
  readonly pid: number;
  readonly host: string;
  /** Tells two locks of one process apart. */
  readonly id: string;
}

/**
 * Runs `work` while no other program of this user does so for the same file, so that a change of the file does not undo another one. The lock is
 * the file `PATH.lock`. That of a program that was killed is taken over.
 *
 * `work` calls `expectHeld` right before it writes: a program that was stopped for a minute has lost its lock.
 *
 * @throws ProgramError BadConfig if the lock cannot be made, or was lost
 */
export async function withFileLock<T>(
  path: string,
  signal: AbortSignal,
  work: (expectHeld: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const lock = `${path}.lock`;
  const own: Owner = { pid: process.pid, host: hostname(), id: idOf(process.pid) };
  try {
    await mkdir(dirname(lock), { recursive: true, mode: 0o700 });
    while (!(await tryLock(lock, own))) {
      await removeStale(lock);
      await sleep(pollMs.min + Math.random() * (pollMs.max - pollMs.min), undefined, { signal });
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new ProgramError('BadConfig', `Unable to write \`${lock}\``, { cause: error });
  }
  const touching = setInterval(() => void touch(lock, own), touchMs).unref();
  try {
    await removeLeft(lock, own);
    return await work(async () => {
      if ((await readOwner(lock))?.id === own.id) return;
      throw new ProgramError('BadConfig', `Unable to write \`${path}\`: another program took over the lock; try again`);
    });
  } finally {
    clearInterval(touching);
    if ((await readOwner(lock))?.id === own.id) await rm(lock, { force: true });
  }
}

/** 4 bytes of the process, 4 random ones. */
function idOf(pid: number): string {
  return pid.toString(16).padStart(8, '0') + randomBytes(4).toString('hex');
}

/** Makes the lock with its owner in it. Of two programs one succeeds. */
async function tryLock(lock: string, own: Owner): Promise<boolean> {
  const text = JSON.stringify(own);
  const temporary = `${lock}.${own.id}`;
  try {
    await writeFile(temporary, text, { mode: 0o600 });
    await link(temporary, lock);
    return true;
  } catch (error) {
    const { code = '', syscall } = error as NodeJS.ErrnoException;
    // Another program may take the file for one that was left, before its owner is in it.
    if (code === 'EEXIST' || (code === 'ENOENT' && syscall === 'link')) return false;
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP'].includes(code)) throw error;
    // Some network file systems have no hard links.
    return await createNew(lock, text);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function createNew(lock: string, text: string): Promise<boolean> {
  try {
    await writeFile(lock, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes the lock of a program that was killed. */
async function removeStale(lock: string): Promise<void> {
  const owner = await readOwner(lock);
  if (!(await isStale(lock, owner))) return;
  // Of several programs that find it, one moves it away. A lock that another program made meanwhile gets its name again.
  const aside = `${lock}.${randomBytes(8).toString('hex')}`;
  try {
    await rename(lock, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = await readOwner(aside);
  if (moved?.id !== owner?.id) await link(aside, lock).catch(() => undefined);
  await rm(aside, { force: true });
}

/** Removes what programs left beside the lock that were killed while they took it, or took it over. */
async function removeLeft(lock: string, own: Owner): Promise<void> {
  const [folder, prefix] = [dirname(lock), `${basename(lock)}.`];
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(prefix) || name === `${prefix}${own.id}` || !/^[\da-f]{16}$/.test(name.slice(prefix.length)))
      continue;
    const left = join(folder, name);
    // One that was killed before it wrote its name into the file has it in the name of the file.
    const owner = (await readOwner(left)) ?? {
      pid: Number.parseInt(name.slice(prefix.length, -8), 16),
      host: hostname(),
    };
    if (await isStale(left, owner)) await rm(left, { force: true }).catch(() => undefined);
  }
}

async function isStale(lock: string, owner: Omit<Owner, 'id'> | undefined): Promise<boolean> {
  if (owner?.host === hostname() && !isRunning(owner.pid)) return true;
  const found = await stat(lock).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > staleMs;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function touch(lock: string, own: Owner): Promise<void> {
  const now = new Date();
  if ((await readOwner(lock))?.id === own.id) await utimes(lock, now, now).catch(() => undefined);
}

/** Undefined if there is no lock, or one that is just being written. */
async function readOwner(lock: string): Promise<Owner | undefined> {
  try {
    const { pid, host, id } = JSON.parse(await readFile(lock, 'utf8')) as Partial<Owner>;
    return typeof pid === 'number' && typeof host === 'string' && typeof id === 'string'
      ? { pid, host, id }
      : undefined;
  } catch {
    return undefined;
  }
}
