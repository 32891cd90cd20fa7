import { dirname } from 'node:path';
import type { Server as TlsServer } from 'node:tls';
import type { Logger } from '../logger.ts';
import { watchPaths } from '../watch-paths.ts';
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
  const watched = watchPaths(foldersOf(options), {
    look,
    ...(options.pollMs === undefined ? {} : { pollMs: options.pollMs }),
  });
  return {
    get current() {
      return current;
    },
    check: () => watched.check(),
    close() {
      closed = true;
      watched.close();
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

function foldersOf(files: TlsFiles): string[] {
  const folders = [dirname(files.certFile), dirname(files.keyFile)];
  return files.caFile === undefined ? folders : [...folders, dirname(files.caFile), files.caFile];
}
