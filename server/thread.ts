import { parentPort, workerData } from 'node:worker_threads';
import { openLineRing } from '../platform/line-ring.ts';
import type { Role, Tell, ThreadOptions, ToThread } from './thread-messages.ts';
import { threadLog } from './thread-log.ts';

/** A worker's entry. What a role does is in its own file; this one carries the messages. */
const port = parentPort;
if (port === null) throw new Error('server/thread.ts is started by server/main.ts, not by hand');

const options = workerData as ThreadOptions;
const log = threadLog(options.settings.logLevel, options.terminal, openLineRing(options.live.log));
const tell: Tell = (message) => port.postMessage(message);
const role = await start();

port.on('message', (message: ToThread) => {
  role.handle(message).catch((error: unknown) => {
    log.error({ err: error }, `the ${options.role} thread failed`);
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  });
});
tell({ kind: 'started' });

/** Each role loads its own modules alone: the console's would cost every HTTP thread time and memory. */
async function start(): Promise<Role> {
  if (options.role === 'background') {
    const { startBackground } = await import('./background-thread.ts');
    return startBackground(options, log, tell);
  }
  if (options.role === 'hashing') {
    const { hashForEver } = await import('./objects/hashing/hashing.ts');
    if (options.hashing === undefined) throw new Error('a hashing thread needs what it shares');
    // Hears no messages any more: it ends with the process.
    return hashForEver(options.hashing.memory, options.hashing.threads);
  }
  const { startHttp } = await import('./http-thread.ts');
  return startHttp(options, log, tell);
}
