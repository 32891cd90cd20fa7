import { parentPort, workerData } from 'node:worker_threads';
import { openLineRing, type LineRing } from '../../platform/line-ring.ts';
import type { Role, Tell, ThreadOptions, ToThread } from './threads.ts';
import { writeSync } from 'node:fs';
import { createLogger, type Logger, type LogLevel } from '../../platform/logger.ts';

/** A worker's entry. What a role does is in its own file; this one carries the messages. */
const port = parentPort;
if (port === null) throw new Error('server/process/thread.ts is started by server/main.ts, not by hand');

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
    const { runHashing } = await import('../objects/hashing/hashing.ts');
    if (options.hashing === undefined) throw new Error('a hashing thread needs what it shares');
    // Hears no messages any more: it ends with the process.
    return runHashing(options.hashing.memory, options.hashing.threads);
  }
  const { startHttp } = await import('./http-thread.ts');
  return startHttp(options, log, tell);
}

/** The log of a thread: the process' own stream and form, which a thread cannot see for itself, and what the process keeps of its lines. */
export function threadLog(level: LogLevel, terminal: boolean, kept: LineRing): Logger {
  const options = { name: 'coffer-server', level, also: (line: string) => kept.append(line) };
  if (!terminal) return createLogger(options);
  return createLogger({ ...options, stream: { isTTY: true, write: (line: string) => void writeSync(1, line) } });
}
