import { startTenant } from '../harness/start-tenant.ts';
import { describeClient } from './client-suite.ts';

describeClient('a tenant of ours', async () => {
  const { s3: url, root, stop } = await startTenant({ defaultKey: 'some-key' });
  return { url, accessKey: root.accessKeyId, secretKey: root.secretAccessKey, stop };
});
