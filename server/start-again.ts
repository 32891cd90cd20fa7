import type { Logger } from '../platform/logger.ts';

/** With which a process asks the one that started it to start it again: bin/node-26.js does, as do Kubernetes and the local runtime with any. */
const again = 75;

/**
 * Begins the program anew, with the same arguments, once everything is closed: settings are read again. It stays the same process, so
 * that a container does not end. One that has a channel to its parent must keep it, and Windows cannot: there the parent has to start it.
 */
export function startAgain(log: Logger): void {
  if (process.execve === undefined || process.platform === 'win32' || process.channel) {
    log.info({ exitCode: again }, 'leaving, to be started again');
    process.exit(again);
  }
  const [, ...args] = process.argv;
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...args], process.env);
}
