import { startServer, untilReady } from '../support/server/start-server.ts';
import { describeLineCounts, describeSameLines } from './lines/same-lines-suite.ts';

describeLineCounts();
describeSameLines(
  'Coffer',
  async () => {
    const server = await startServer({
      env: { SVC_KMS_SECRET_KEY: `some-key:${Buffer.alloc(32, 7).toString('base64')}` },
    });
    await untilReady(server);
    return { url: server.s3, accessKey: server.accessKey, secretKey: server.secretKey, stop: () => server.stop() };
  },
  { marks: true },
);
