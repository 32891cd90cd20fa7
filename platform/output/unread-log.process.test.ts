import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/store/temporary-folder.ts';

const logger = new URL('./logger.ts', import.meta.url).href;
const output = new URL('./standard-output.ts', import.meta.url).href;
const logOutput = new URL('./log-output.ts', import.meta.url).href;

/** Logs 4 MiB in the main thread and in another one, tells that it did, and logs once more when it is told to. */
const program = `
  import { createLogger } from '${logger}';
  import { failOnLostOutput } from '${output}';
  import { countDroppedLinesIn, droppedLinesMemory, droppedLogLines } from '${logOutput}';
  import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
  const memory = isMainThread ? droppedLinesMemory() : workerData;
  countDroppedLinesIn(memory);
  if (isMainThread) failOnLostOutput('test');
  const log = createLogger({ name: isMainThread ? 'main' : 'thread' });
  for (let line = 0; line < 4096; line += 1) log.info({ line, text: 'x'.repeat(1000) }, 'line');
  if (isMainThread) {
    const worker = new Worker(new URL('./program.mjs', import.meta.url), { workerData: memory });
    worker.once('message', () => process.send('logged'));
    process.on('message', () => {
      log.info({ dropped: droppedLogLines() }, 'last');
      process.disconnect();
      worker.postMessage('end');
    });
  } else {
    parentPort.postMessage('logged');
    parentPort.once('message', () => log.info('last'));
  }
`;

let folder: Awaited<ReturnType<typeof temporaryFolder>> | undefined;
afterEach(() => folder?.remove());

/** Starts the program, and returns the end of its standard output once both threads have logged. */
async function logged(kind: 'a socket' | 'a pipe'): Promise<Readable> {
  folder = await temporaryFolder();
  const file = join(folder.path, 'program.mjs');
  writeFileSync(file, program);
  const [path, inherited] = [join(folder.path, 'pipe'), kind === 'a pipe'];
  if (inherited) execFileSync('mkfifo', [path]);
  const read = inherited ? openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) : undefined;
  const write = inherited ? openSync(path, constants.O_WRONLY) : undefined;
  const child = spawn(process.execPath, [file], { stdio: ['ignore', write ?? 'pipe', 'inherit', 'ipc'] });
  if (write !== undefined) closeSync(write);
  await once(child, 'message');
  child.send('read');
  const stdout = read === undefined ? child.stdout : new Socket({ fd: read });
  if (stdout === null) throw new Error('the program has no standard output');
  return stdout;
}

describe('a log that nobody reads', () => {
  it.each(['a socket', 'a pipe'] as const)(
    'stalls no thread where it is %s, and counts what is missing',
    async (kind) => {
      const counts = { main: 0, thread: 0 };
      const last: string[] = [];
      let [missing, dropped] = [0, 0];
      for await (const text of createInterface({ input: await logged(kind) })) {
        const line = JSON.parse(text) as {
          name: 'main' | 'thread';
          event?: string;
          count?: number;
          dropped?: number;
          msg: string;
        };
        counts[line.name] += line.event === 'log-lines-dropped' ? (line.count ?? 0) : 1;
        if (line.event === 'log-lines-dropped') missing += line.count ?? 0;
        if (line.msg === 'last') last.push(line.name);
        dropped = line.dropped ?? dropped;
      }
      expect(counts).toEqual({ main: 4097, thread: 4097 });
      expect(last.toSorted()).toEqual(['main', 'thread']);
      // The two last lines may have taken the places of others.
      expect(missing - dropped).toBeLessThanOrEqual(4);
      expect(dropped).toBeGreaterThan(4096);
    },
  );
});
