import type { Logger } from '../platform/logger.ts';
import type { AskForStop } from '../platform/shutdown.ts';
import { startAgain } from './start-again.ts';
import type { Thread } from './threads.ts';

/** What administrators ask of the process as a whole, whichever thread they reached. */
export function administer(
  http: readonly Pick<Thread, 'on' | 'tell'>[],
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
      switch (action) {
        case 'restart':
          return ask('an administrator asks for a restart', () => startAgain(log));
        case 'stop':
          return ask('an administrator asks for it');
        case 'freeze':
        case 'unfreeze':
          for (const thread of http) thread.tell({ kind: 'freeze', on: action === 'freeze' });
          return undefined;
        default:
          return action satisfies never;
      }
    });
  }
}
