import { fullForm } from '../support/full-form.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { startTenant } from '../support/server/start-tenant.ts';
import type { ServerUnderTest } from './client-driver.ts';
import { describeClient } from './client-suite.ts';

const defaultKey = 'some-key';

/** The operator, the key service and the server. */
async function startWhole(): Promise<ServerUnderTest> {
  const tenant = await startTenant({ defaultKey });
  const { s3: url, root } = tenant;
  return { url, accessKey: root.accessKeyId, secretKey: root.secretAccessKey, stop: () => tenant.stop() };
}

/** A server that has the key itself. A whole tenant takes four times the processor time to start. */
async function startAlone(): Promise<ServerUnderTest> {
  const env = { SVC_KMS_SECRET_KEY: `${defaultKey}:${Buffer.alloc(32, 7).toString('base64')}` };
  const server = await startServer({ env });
  await untilReady(server);
  const { s3: url, accessKey, secretKey } = server;
  return { url, accessKey, secretKey, stop: async () => void (await server.stop()) };
}

describeClient('a tenant of ours', fullForm ? startWhole : startAlone);
