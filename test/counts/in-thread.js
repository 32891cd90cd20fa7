// The counter loads this file into every thread of its server (--import in NODE_OPTIONS). The HTTP thread counts calls with V8's precise
// coverage. Each message of the counter makes it answer with the files whose functions were called since the last message.
import { Session } from 'node:inspector';
import { BroadcastChannel, isMainThread, workerData } from 'node:worker_threads';

const isEntered = ({ ranges }) => ranges[0].count > 0;
const channel = new BroadcastChannel('coffer-counts');
channel.unref();

if (isMainThread) {
  process.on('message', () => channel.postMessage('take'));
  // A counter that was ended, for instance by the deadline of its test, leaves no server behind, which would hold up the run of tests.
  process.once('disconnect', () => process.exit());
  channel.addEventListener('message', ({ data }) => {
    if (Array.isArray(data)) process.send?.(data);
  });
} else if (workerData?.role === 'http') {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  channel.addEventListener('message', () => {
    session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error;
      channel.postMessage(result.filter(({ functions }) => functions.some(isEntered)).map(({ url }) => url));
    });
  });
}
