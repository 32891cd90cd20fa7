import type { Logger } from '../../platform/logger.ts';
import type { AskForStop } from '../../platform/shutdown.ts';
import type { ServiceAction } from '../administration/services.ts';
import type { ToThread, Thread } from './threads.ts';

/** What administrators ask of the process as a whole, whichever thread they reached. */
export function administer(
  http: readonly Pick<Thread, 'on' | 'tell' | 'ask'>[],
  { log, ask }: { readonly log: Logger; readonly ask: AskForStop },
): void {
  let watchers = 0;
  for (const asked of http) {
    asked.on('tracing', (message) => {
      watchers += message.watchers;
      for (const thread of http) thread.tell({ kind: 'trace', on: watchers > 0 });
    });
    asked.on('service', ({ action }) => {
      log.warn({ action }, `an administrator asks this server to ${action}`);
      void perform(action, asked);
    });
  }

  async function perform(action: ServiceAction, asked: Pick<Thread, 'tell'>): Promise<void> {
    await begin(action);
    asked.tell({ kind: 'acted' });
    if (action === 'restart') ask('an administrator asks for a restart', () => startAgain(log));
    if (action === 'stop') ask('an administrator asks for it');
  }

  /** Who asked is answered when no thread goes on as before: who looks whether the server is ready again must not see that it is still. */
  async function begin(action: ServiceAction): Promise<void> {
    const message: ToThread =
      action === 'restart' || action === 'stop' ? { kind: 'leave' } : { kind: 'freeze', on: action === 'freeze' };
    await Promise.all(http.map((thread) => thread.ask(message, 'changed')));
  }
}

/** With which a process asks the one that started it to start it again: bin/node-26.js does, as do Kubernetes and the local runtime with any. */
const again = 75;

/**
 * Begins the program anew, with the same arguments, once everything is closed: settings are read again. It stays the same process, so
 * that a container does not end. One that has a channel to its parent must keep it, and Windows cannot: there the parent has to start it.
 */
function startAgain(log: Logger): void {
  if (process.execve === undefined || process.platform === 'win32' || process.channel) {
    log.info({ exitCode: again }, 'leaving, to be started again');
    process.exit(again);
  }
  const [, ...args] = process.argv;
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...args], process.env);
}
