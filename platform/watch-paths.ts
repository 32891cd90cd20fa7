import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';

export interface WatchedPaths {
  /** Looks now instead of at the next occasion; one look at a time. */
  check(): Promise<void>;
  close(): void;
}

/**
 * Calls `look` every few seconds, and whenever the system gives notice of a change in one of the folders or files. Folders see the
 * swapped symbolic links of a Kubernetes volume, and files that an editor replaces. What changed is for `look` to find out; it
 * must not reject.
 */
export function watchPaths(
  paths: Iterable<string>,
  options: { /** 5 s by default. */ readonly pollMs?: number; readonly look: () => Promise<void> },
): WatchedPaths {
  let looking: Promise<void> | undefined;
  let again = false;
  const check = () => {
    // What changed after a look began may have been read too early: look once more.
    again = looking !== undefined;
    looking ??= (async () => {
      do {
        again = false;
        await options.look();
      } while (again);
    })().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const timer = setInterval(() => void check(), options.pollMs ?? 5000);
  timer.unref();
  const watchers = [...new Set(paths)].map((path) => watchOne(path, () => void check()));
  return {
    check,
    close() {
      clearInterval(timer);
      for (const watcher of watchers) watcher?.close();
    },
  };
}

/** Some file systems give no notices, and the number of watches is limited: looking at intervals is enough then. */
function watchOne(path: string, onNotice: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, onNotice);
    // A folder that goes away ends its notices; the looks at intervals go on.
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
