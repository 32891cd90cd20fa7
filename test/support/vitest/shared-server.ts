/**
 * The servers for the files of `npm test` that use only buckets and users of their own (test/support/server/shared-server.ts). Each
 * starts when the first file asks for it, and ends with the run.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SharedServer } from '../server/shared-server.ts';
import type { RunningServer } from '../server/start-server.ts';

const replicating = {
  SVC_KMS_SECRET_KEY: `some-key:${Buffer.alloc(32, 7).toString('base64')}`,
  SVC_PROMETHEUS_AUTH_TYPE: 'public',
};
const settings: Readonly<Record<SharedServer, Readonly<Record<string, string>>>> = {
  plain: {},
  console: {
    SVC_KMS_SECRET_KEY: `own-key:${Buffer.alloc(32, 7).toString('base64')}`,
    SVC_NOTIFY_WEBHOOK_ENABLE_HOOK: 'on',
    // Nothing listens there.
    SVC_NOTIFY_WEBHOOK_ENDPOINT_HOOK: 'http://127.0.0.1:9/hook',
  },
  left: replicating,
  right: replicating,
};

export default async function shareServers(): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<RunningServer>>();
  const starter = createServer((request, response) => {
    const name = request.url?.slice(1) ?? '';
    const server = started.get(name) ?? start(name);
    started.set(name, server);
    server.then(
      ({ s3, console, accessKey, secretKey }) => response.end(JSON.stringify({ s3, console, accessKey, secretKey })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  starter.listen(0, '127.0.0.1');
  await once(starter, 'listening');
  process.env['COFFER_TEST_SHARED_SERVER'] = `http://127.0.0.1:${(starter.address() as AddressInfo).port}`;
  return async () => {
    starter.close();
    starter.closeAllConnections();
    await Promise.all([...started.values()].map(async (server) => (await server).stop()));
  };
}

async function start(name: string): Promise<RunningServer> {
  if (!Object.hasOwn(settings, name)) throw new Error(`no server of that name is shared: ${name}`);
  // Imported late: the module looks for the bundled programs, which another setup makes.
  const { startServer, untilReady } = await import('../server/start-server.ts');
  const server = await startServer({ env: settings[name as SharedServer] });
  await untilReady(server);
  return server;
}
