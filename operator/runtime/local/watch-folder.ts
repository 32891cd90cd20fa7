import { readdirSync, statSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';

interface FolderWatch {
  close(): void;
}

/** Milliseconds without changes after which the changes count as one. */
const quietMs = 500;
/** Milliseconds after which the folder is read even if changes go on. */
const maxDelayMs = 2_000;
/** Some file systems (NFS, mounts from another machine) report no changes, so the folder is also polled. */
const pollMs = 5_000;

/**
 * Calls `changed` once for each set of changes in a folder. Editors write a new file and rename it, and tools delete and write again, so
 * the watch is of the folder, and the callee reads it to find the changes.
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
    quiet = setTimeout(fire, Math.min(quietMs, Math.max(0, since + maxDelayMs - now)));
  };
  const open = () => {
    try {
      watcher = watch(folder, { recursive: true }, stirred);
      watcher.on('error', () => {
        watcher?.close();
        watcher = undefined;
      });
    } catch {
      // The folder does not exist now. Polling finds it again.
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

/** Returns a text that changes whenever the listing of the folder does. */
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
    // The file was deleted or replaced: the answer differs from that of any listing.
    return 'unreadable';
  }
}
