import { startServer, untilReady } from '../harness/start-server.ts';
import { describeClient } from './client-suite.ts';

describeClient(
  'our server',
  async () => {
    const server = await startServer();
    await untilReady(server);
    const { s3: url, accessKey, secretKey } = server;
    return { url, accessKey, secretKey, stop: async () => void (await server.stop()) };
  },
  // Without a key service the server takes no encryption; the whole way of the quick start tries that.
  { encryption: false, thorough: false },
);
