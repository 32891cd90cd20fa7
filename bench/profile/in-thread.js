// Each thread of a profiled server loads this file (--import in NODE_OPTIONS). SIGUSR2 makes the main thread read the control file: a name
// starts a profile of every thread, an empty file ends it. The file is plain JavaScript, because the launcher also loads it and may run on
// an older Node.
import { readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

const folder = process.env['COFFER_BENCH_PROFILE'];
/** Microseconds. The interval shows functions that take a tenth of a request's time. */
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
