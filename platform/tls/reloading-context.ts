import { dirname } from 'node:path';
import type { Server as TlsServer } from 'node:tls';
import type { Logger } from '../output/logger.ts';
import { ProgramError } from '../errors/program-error.ts';
import { chainWarning } from './certificate-chain.ts';
import { validityError, validityWarning } from './certificate-validity.ts';
import { watchPaths } from '../files/watch-paths.ts';
import { readTlsFiles } from './tls-files.ts';
import type { TlsFiles, TlsMaterial } from './tls-files.ts';

/** The parts that a change of the files changed. */
export interface TlsChange {
  readonly certificate: boolean;
  readonly ca: boolean;
}

export interface WatchedTlsFiles {
  /** The last valid pair. */
  readonly current: TlsMaterial;
  /** Reads the files now instead of at the next interval. */
  check(): Promise<void>;
  close(): void;
}

export interface WatchOptions extends TlsFiles {
  readonly log: Logger;
  /** The polling interval in milliseconds, 5 s by default. The watcher also uses file system events. */
  readonly pollMs?: number;
  /** Throws a `ProgramError` where a certificate cannot serve this program. */
  readonly accept?: (material: TlsMaterial) => void;
}

/**
 * Reads certificate and key, and again when their content changes. It polls every few seconds and watches their folders, so that it also
 * sees the swapped symbolic links of a Kubernetes volume. An invalid pair, such as one between the writes of its two files, is logged, and
 * the old pair stays. It also stays instead of one that is expired or not valid yet, as long as it is valid itself. A certificate that is
 * not valid, or ends soon, is logged once a day, and a chain that some clients refuse when it is read.
 *
 * Rejects with a `ProgramError` if the files are wrong at the first read.
 */
export async function watchTlsFiles(
  options: WatchOptions,
  onChange: (material: TlsMaterial, change: TlsChange) => void,
): Promise<WatchedTlsFiles> {
  const { log } = options;
  const read = async () => {
    const material = await readTlsFiles(options);
    options.accept?.(material);
    return material;
  };
  let current = await read();
  let closed = false;
  let complaint: string | undefined;
  let warned: string | undefined;

  const warnOfValidity = () => {
    const warning = validityWarning(current.cert, Date.now());
    if (warning !== undefined && warning !== warned) {
      log.warn(
        { event: 'certificate-validity', certFile: options.certFile },
        `the certificate in ${options.certFile} ${warning}: renew it and replace the file`,
      );
    }
    warned = warning;
  };
  warnOfValidity();
  const warnOfChain = () => {
    const warning = chainWarning(current.cert);
    if (warning === undefined) return;
    log.warn({ event: 'certificate-chain', certFile: options.certFile }, `the file ${options.certFile} ${warning}`);
  };
  warnOfChain();

  const look = async () => {
    try {
      const next = await read();
      checkValidity(options.certFile, current, next);
      complaint = undefined;
      const change = difference(current, next);
      if (closed || !(change.certificate || change.ca)) return;
      current = next;
      log.info({ certFile: options.certFile, ...change }, 'TLS files changed: reloaded');
      if (change.certificate) warnOfChain();
      onChange(next, change);
    } catch (error) {
      const message = (error as Error).message;
      // The log has one line for each state of the files, not for each poll.
      if (message !== complaint)
        log.error({ certFile: options.certFile, err: error }, `TLS files not reloaded: ${message}`);
      complaint = message;
    } finally {
      warnOfValidity();
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

/** Makes a TLS or HTTPS server use new certificates for new connections. Its other TLS options stay the same. */
export function applyTlsMaterial(
  server: TlsServer,
  material: TlsMaterial,
  more: { readonly secureOptions?: number } = {},
): void {
  server.setSecureContext({ ...material, ...more });
}

/** Clients would refuse the new certificate, and they do not refuse the old one. The clock of the issuer may also be ahead. */
function checkValidity(certFile: string, before: TlsMaterial, after: TlsMaterial): void {
  const now = Date.now();
  const error = validityError(after.cert, now);
  if (error === undefined || before.cert.equals(after.cert) || validityError(before.cert, now) !== undefined) return;
  throw new ProgramError(
    'tls-files',
    `the new certificate in ${certFile} ${error}: the former certificate stays in use`,
  );
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
