import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import type { Server as TlsServer } from 'node:tls';
import type { Logger } from '../logger.ts';
import { readTlsFiles } from './tls-files.ts';
import type { TlsFiles, TlsMaterial } from './tls-files.ts';

/** What a change of the files changed. */
export interface TlsChange {
  readonly certificate: boolean;
  readonly ca: boolean;
}

export interface WatchedTlsFiles {
  /** The last pair that was valid. */
  readonly current: TlsMaterial;
  /** Looks at the files now instead of at the next occasion. */
  check(): Promise<void>;
  close(): void;
}

export interface WatchOptions extends TlsFiles {
  readonly log: Logger;
  /** Milliseconds between looks at the files; change notices of the system come on top. 5 s by default. */
  readonly pollMs?: number;
}

/**
 * Reads certificate and key, and again whenever their content changes: by looking every few seconds and by notices from their
 * folders, which also see the swapped symbolic links of a Kubernetes volume. A pair that does not fit, such as one seen between
 * the writes of its two files, is logged and the old one kept.
 *
 * Errors with a `TlsFilesError` where the files are wrong at the first read.
 */
export async function watchTlsFiles(
  options: WatchOptions,
  onChange: (material: TlsMaterial, change: TlsChange) => void,
): Promise<WatchedTlsFiles> {
  const { log } = options;
  let current = await readTlsFiles(options);
  let closed = false;
  let complaint: string | undefined;
  let looking: Promise<void> | undefined;

  const look = async () => {
    try {
      const next = await readTlsFiles(options);
      complaint = undefined;
      const change = difference(current, next);
      if (closed || !(change.certificate || change.ca)) return;
      current = next;
      log.info({ certFile: options.certFile, ...change }, 'TLS files changed: reloaded');
      onChange(next, change);
    } catch (error) {
      const message = (error as Error).message;
      // Said once for each state of the files, not at every look.
      if (message !== complaint)
        log.error({ certFile: options.certFile, err: error }, `TLS files not reloaded: ${message}`);
      complaint = message;
    }
  };
  const check = () => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  const timer = setInterval(() => void check(), options.pollMs ?? 5000);
  timer.unref();
  const watchers = watchFolders(options, () => void check());
  return {
    get current() {
      return current;
    },
    check,
    close() {
      closed = true;
      clearInterval(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** Makes a TLS or HTTPS server present new certificates to new connections. Its other TLS options stay as they were created. */
export function applyTlsMaterial(
  server: TlsServer,
  material: TlsMaterial,
  more: { readonly secureOptions?: number } = {},
): void {
  server.setSecureContext({ ...material, ...more });
}

function difference(before: TlsMaterial, after: TlsMaterial): TlsChange {
  return {
    certificate: !before.cert.equals(after.cert) || !before.key.equals(after.key),
    ca: !(before.ca ?? Buffer.alloc(0)).equals(after.ca ?? Buffer.alloc(0)),
  };
}

function watchFolders(files: TlsFiles, onNotice: () => void): FSWatcher[] {
  const folders = new Set([dirname(files.certFile), dirname(files.keyFile)]);
  if (files.caFile !== undefined) folders.add(dirname(files.caFile)).add(files.caFile);
  const watchers: FSWatcher[] = [];
  for (const folder of folders) {
    try {
      const watcher = watch(folder, { persistent: false }, onNotice);
      // A folder that goes away ends its notices; the looks at intervals go on.
      watcher.on('error', () => watcher.close());
      watchers.push(watcher);
    } catch {
      // Some file systems give no notices, and the number of watches is limited: looking at intervals is enough.
    }
  }
  return watchers;
}
