import { once } from 'node:events';
import { createServer } from 'node:http';
import { freePort } from '../../test/support/process/free-port.ts';

/** A web service that takes the events of Coffer, in the process of the benchmark. */
export interface BenchWebhook {
  /** The settings of Coffer. */
  readonly environment: Readonly<Record<string, string>>;
  /** Events that came so far. */
  count(): number;
  stop(): void;
}

export async function startWebhook(): Promise<BenchWebhook> {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    request.resume();
    response.end();
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    environment: { SVC_NOTIFY_WEBHOOK_ENDPOINT: `http://127.0.0.1:${port}/` },
    count: () => count,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
