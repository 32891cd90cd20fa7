import { readdirSync, statSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';

interface FolderWatch {
  close(): void;
}

/** Milliseconds of quiet after which changes count as one. */
const quietMs = 500;
/** However restless the folder is, it is read at least this often, in milliseconds. */
const patienceMs = 2_000;
/** Some file systems (NFS, mounts from another machine) tell nothing of changes. */
const pollMs = 5_000;

/**
 * Calls `changed` once for each set of changes in a folder. Editors save by writing a new file and renaming it, and tools delete and
 * write again: the watch is of the folder, and what changed is found by reading it.
 */
export function watchFolder(folder: string, changed: () => void): FolderWatch {
  let quiet: NodeJS.Timeout | undefined;
  let since: number | undefined;
  let watcher: FSWatcher | undefined;
  let seen = signature(folder);
  const fire = () => {
    clearTimeout(quiet);
    quiet = undefined;
    since = undefined;
    seen = signature(folder);
    changed();
  };
  const stirred = () => {
    const now = Date.now();
    since ??= now;
    clearTimeout(quiet);
    quiet = setTimeout(fire, Math.min(quietMs, Math.max(0, since + patienceMs - now)));
  };
  const open = () => {
    try {
      watcher = watch(folder, { recursive: true }, stirred);
      watcher.on('error', () => {
        watcher?.close();
        watcher = undefined;
      });
    } catch {
      // The folder is gone for now; polling goes on and finds it again.
      watcher = undefined;
    }
  };
  open();
  const poll = setInterval(() => {
    if (watcher === undefined) open();
    if (quiet === undefined && signature(folder) !== seen) stirred();
  }, pollMs);
  return {
    close: () => {
      clearTimeout(quiet);
      clearInterval(poll);
      watcher?.close();
    },
  };
}

/** Changes whenever a file of the folder does, as far as its listing tells. */
function signature(folder: string): string {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => {
        const { mtimeMs, size, ino } = statSync(join(folder, name));
        return `${name} ${mtimeMs} ${size} ${ino}`;
      })
      .join('\n');
  } catch {
    // Gone, or changing this moment: looks different from any listing.
    return 'unreadable';
  }
}
