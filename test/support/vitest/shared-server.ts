/**
 * One server for all files of `npm test` that need no settings and use only buckets of their own (test/support/server/shared-server.ts).
 * It starts when the first of them asks, and ends with the run.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RunningServer } from '../server/start-server.ts';

export default async function shareServer(): Promise<() => Promise<void>> {
  let started: Promise<RunningServer> | undefined;
  const starter = createServer((_request, response) => {
    started ??= start();
    started.then(
      ({ s3, accessKey, secretKey }) => response.end(JSON.stringify({ s3, accessKey, secretKey })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  starter.listen(0, '127.0.0.1');
  await once(starter, 'listening');
  process.env['COFFER_TEST_SHARED_SERVER'] = `http://127.0.0.1:${(starter.address() as AddressInfo).port}`;
  return async () => {
    starter.close();
    starter.closeAllConnections();
    await (await started)?.stop();
  };
}

async function start(): Promise<RunningServer> {
  // Imported late: the module looks for the bundled programs, which another setup makes.
  const { startServer, untilReady } = await import('../server/start-server.ts');
  const server = await startServer();
  await untilReady(server);
  return server;
}
