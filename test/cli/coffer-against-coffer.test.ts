import { startTenant } from '../support/server/start-tenant.ts';
import { describeClient } from './client-suite.ts';

describeClient('a tenant of ours', async () => {
  const tenant = await startTenant({ defaultKey: 'some-key' });
  const { s3: url, root } = tenant;
  return { url, accessKey: root.accessKeyId, secretKey: root.secretAccessKey, stop: () => tenant.stop() };
});
