import type { Logger } from '../../platform/output/logger.ts';
import type { AskForStop } from '../../platform/process/shutdown.ts';
import type { ServiceAction } from '../administration/services.ts';
import type { ToThread, Thread } from './threads.ts';

/** Runs the service actions of administrators for the whole process. Each HTTP thread may get such a request. */
export function handleServiceActions(
  http: readonly Pick<Thread, 'on' | 'send' | 'request'>[],
  {
    log,
    askForStop,
    background,
  }: {
    readonly log: Logger;
    readonly askForStop: AskForStop;
    readonly background: Pick<Thread, 'on' | 'send'>;
  },
): void {
  let watchers = 0;
  let listeners = 0;
  // The console is in the background thread.
  const serving = [...http, background];
  for (const thread of serving) {
    thread.on('tracing', (message) => {
      watchers += message.watchers;
      for (const one of serving) one.send({ kind: 'trace', on: watchers > 0 });
    });
    thread.on('listening-events', (message) => {
      listeners += message.listeners;
      for (const one of serving) one.send({ kind: 'hear', on: listeners > 0 });
    });
    thread.on('service', ({ action }) => {
      log.warn({ action }, `an administrator asks this server to ${action}`);
      void perform(action, thread);
    });
  }

  async function perform(action: ServiceAction, thread: Pick<Thread, 'send'>): Promise<void> {
    await start(action);
    thread.send({ kind: 'acknowledged' });
    if (action === 'restart') askForStop('an administrator asks for a restart', () => restartProgram(log));
    if (action === 'stop') askForStop('an administrator asks for it');
  }

  /**
   * Resolves when each thread has acknowledged the action. The administrator gets the answer then, so that a following look at the
   * readiness does not see the old state.
   */
  async function start(action: ServiceAction): Promise<void> {
    const message: ToThread =
      action === 'restart' || action === 'stop' ? { kind: 'unready' } : { kind: 'freeze', on: action === 'freeze' };
    await Promise.all(http.map((thread) => thread.request(message, 'done')));
  }
}

/**
 * The exit code that asks the parent process for a restart: bin/node-26.js restarts on it, and Kubernetes and the local runtime restart on
 * any code.
 */
const restartExitCode = 75;

/**
 * Restarts the program with the same arguments after everything is closed, so that it reads its settings again. The process stays the same,
 * so that a container does not end. A process with a channel to its parent must keep the channel, and Windows cannot replace a program:
 * there the parent restarts it.
 */
function restartProgram(log: Logger): void {
  if (process.execve === undefined || process.platform === 'win32' || process.channel) {
    log.info({ exitCode: restartExitCode }, 'leaving, to be started again');
    process.exit(restartExitCode);
  }
  const [, ...args] = process.argv;
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...args], process.env);
}
