import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { askWell } from './generator/ask.ts';
import type { GeneratorProcess } from './generator/generator-process.ts';
import { bucket } from './loads/load.ts';
import { Objects, bodiesOf } from './loads/objects.ts';
import { RunningServer } from './servers/running-server.ts';
import type { ServerName } from './servers/server-programs.ts';

/** The objects are small so that many can be written. Only their number matters. */
const objectBytes = 512;
const fillConnections = 64;
const rounds = 3;

export interface ColdStart {
  readonly server: ServerName;
  readonly objects: number;
  /** The page cache was emptied, as after a restart of the machine. */
  readonly cacheDropped: boolean;
  /** Milliseconds from the start of the process to the first 200 of the health check, for each round. */
  readonly ready: readonly number[];
  /** Milliseconds to the first object that was read. */
  readonly firstGet: readonly number[];
}

/** Fills the server with objects, then stops and starts it. It runs after the last round. */
export async function coldStarts(
  generator: GeneratorProcess,
  server: RunningServer,
  count: number,
): Promise<{ readonly starts: ColdStart[]; readonly server: RunningServer }> {
  server.resume();
  const fill = {
    prefix: 'cold-start',
    objects: count,
    writes: count,
    bytes: objectBytes,
    connections: fillConnections,
  };
  await generator.do({ kind: 'fill', endpoint: server.endpoint, ...fill });
  const objects = new Objects('cold-start', count, bodiesOf(objectBytes));
  let current = server;
  const starts: ColdStart[] = [];
  for (const cacheDropped of [false, true]) {
    const [ready, firstGet]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      await current.stop();
      if (cacheDropped && !dropCache()) break;
      const started = performance.now();
      current = await RunningServer.start(server.program, server.run);
      const middle = Math.floor(count / 2);
      await askWell(current.endpoint, { method: 'GET', path: `/${bucket}/${objects.key(middle)}`, query: '' });
      firstGet.push(performance.now() - started);
      ready.push(current.readyMs);
      await objects.verify(current.endpoint, count);
    }
    if (ready.length > 0) starts.push({ server: server.program.name, objects: count, cacheDropped, ready, firstGet });
  }
  current.pause();
  return { starts, server: current };
}

/**
 * Empties the page cache. It returns false if the user may not do so.
 *
 * @see proc_sys_vm(5)
 */
function dropCache(): boolean {
  try {
    execFileSync('sync');
    writeFileSync('/proc/sys/vm/drop_caches', '3');
    return true;
  } catch {
    return false;
  }
}
