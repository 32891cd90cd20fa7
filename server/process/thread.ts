import { parentPort, workerData } from 'node:worker_threads';
import { openLineRing } from '../shared-memory/line-ring.ts';
import { countDroppedLinesIn } from '../../platform/output/log-output.ts';
import type { Role, SendMessage, ThreadOptions, ToThread } from './threads.ts';
import { createLogger, logWarnings } from '../../platform/output/logger.ts';

/** The entry of each worker thread. It passes messages to the role of the thread. */
const port = parentPort;
if (port === null) throw new Error('server/process/thread.ts is started by server/main.ts, not by hand');

const options = workerData as ThreadOptions;
countDroppedLinesIn(options.live.droppedLines);
const ring = openLineRing(options.live.log);
const log = createLogger({
  name: 'coffer-server',
  level: options.settings.logLevel,
  also: (line) => ring.append(line),
});
logWarnings(log);
const send: SendMessage = (message) => port.postMessage(message);
const role = await start();

port.on('message', (message: ToThread) => {
  const handled = message.kind === 'profile' ? profile(message) : role.handle(message);
  handled.catch((error: unknown) => {
    log.error({ err: error }, `the ${options.role} thread failed`);
    send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  });
});
send({ kind: 'started' });

/** The inspector is loaded when an administrator asks for a profile. */
async function profile({ name, kinds, durationMs }: Extract<ToThread, { kind: 'profile' }>): Promise<void> {
  try {
    const { profileThread } = await import('../diagnostics/profile-thread.ts');
    send({ kind: 'profiled', files: await profileThread(name, kinds, durationMs) });
  } catch (error) {
    log.error({ err: error }, 'the thread could not be profiled');
    send({ kind: 'profiled', files: [] });
  }
}

/** Loads only the modules of the role. The modules of the console would cost each HTTP thread time and memory. */
async function start(): Promise<Role> {
  if (options.role === 'background') {
    const { startBackground } = await import('./background-thread.ts');
    return startBackground(options, log, send);
  }
  if (options.role === 'hashing') {
    const { runHashing } = await import('../objects/hashing/hashing.ts');
    if (options.hashing === undefined) throw new Error('a hashing thread needs what it shares');
    // The thread handles no further messages. It ends with the process.
    return runHashing(options.hashing.memory, options.hashing.threads);
  }
  const { startHttp } = await import('./http-thread.ts');
  return startHttp(options, log, send);
}
