import { freePort } from '../support/process/free-port.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { describeRealS3 } from './real-s3-suite.ts';

describeRealS3('another Coffer', async () => {
  const folder = await temporaryFolder();
  const port = await freePort();
  const start = async () => {
    const server = await startServer({ folder: folder.path, args: ['--address', `127.0.0.1:${port}`] });
    await untilReady(server);
    return server;
  };
  let server = await start();
  return {
    url: server.s3,
    accessKey: server.accessKey,
    secretKey: server.secretKey,
    kill: () => server.kill(),
    start: async () => {
      server = await start();
    },
    stop: async () => {
      await server.stop();
      await folder.remove();
    },
  };
});
