import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';

interface WatchedPaths {
  /** Calls `look` now instead of at the next interval. Two calls never overlap. */
  check(): Promise<void>;
  close(): void;
}

/**
 * Calls `look` every few seconds, and after file system events for the folders or files. Events of folders also report the swapped symbolic
 * links of a Kubernetes volume, and files that an editor replaces. `look` must find out what changed, and must not reject.
 */
export function watchPaths(
  paths: Iterable<string>,
  options: { /** 5 s by default. */ readonly pollMs?: number; readonly look: () => Promise<void> },
): WatchedPaths {
  let looking: Promise<void> | undefined;
  let again = false;
  const check = () => {
    // A change after the begin of a call may have been missed: call once more.
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

/** Some file systems have no events, and the number of watches is limited. Polling is enough then. */
function watchOne(path: string, onNotice: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, onNotice);
    // A deleted folder ends its events. Polling goes on.
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
