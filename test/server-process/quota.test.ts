import { describeQuota } from '../support/server/quota-suite.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';

let server: RunningServer;

describeQuota(
  'a quota, over the threads of one server',
  async () => {
    server = await startServer({ env: { SVC_THREADS: '2' } });
    await untilReady(server);
    return [server];
  },
  () => server.stop(),
);
