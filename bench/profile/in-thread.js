// Loaded into every thread of a server that is profiled (--import in NODE_OPTIONS). SIGUSR2 tells the main thread to read the
// control file: a name there begins a profile of every thread, an empty one ends it. Plain JavaScript: the launcher, which may run on
// an older Node, loads it too.
import { readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

const folder = process.env['COFFER_BENCH_PROFILE'];
/** Microseconds. Short enough to see what takes a request a tenth of its time. */
const interval = 200;

if (folder !== undefined) {
  const channel = new BroadcastChannel('coffer-bench-profile');
  const session = new Session();
  session.connect();
  let name = '';
  const heed = (wanted) => {
    if (name !== '') {
      const file = join(folder, `${name}.thread-${threadId}.cpuprofile`);
      session.post('Profiler.stop', (error, result) => {
        if (error === null) writeFileSync(file, JSON.stringify(result.profile));
      });
    }
    name = wanted;
    if (name === '') return;
    session.post('Profiler.enable');
    session.post('Profiler.setSamplingInterval', { interval });
    session.post('Profiler.start');
  };
  channel.addEventListener('message', (event) => heed(event.data));
  channel.unref();
  if (isMainThread) {
    process.on('SIGUSR2', () => {
      const wanted = readFileSync(join(folder, 'control'), 'utf8');
      heed(wanted);
      channel.postMessage(wanted);
    });
  }
}
