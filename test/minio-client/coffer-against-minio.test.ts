import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeClient } from '../cli/client-suite.ts';
import { freePort } from '../harness/free-port.ts';
import { tool } from '../harness/tools.ts';

const minio = tool('bin/minio', 'minio');
const keys = { accessKey: 'minio-root', secretKey: 'minio-password' };

describeClient('a real MinIO', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-minio-'));
  const port = await freePort();
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    MINIO_ROOT_USER: keys.accessKey,
    MINIO_ROOT_PASSWORD: keys.secretKey,
    // A key of its own, so that it encrypts without a key service.
    MINIO_KMS_SECRET_KEY: `some-key:${Buffer.alloc(32, 7).toString('base64')}`,
  };
  const address = `127.0.0.1:${port}`;
  const child = spawn(minio, ['server', join(folder, 'data'), '--address', address], { env, stdio: 'ignore' });
  const exited = once(child, 'exit');
  await answering(`http://${address}/minio/health/ready`);
  return {
    url: `http://${address}`,
    ...keys,
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
});

async function answering(url: string): Promise<void> {
  for (const end = Date.now() + 30_000; ;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok === true) return;
    if (Date.now() > end) throw new Error(`${url} does not answer`);
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
}
