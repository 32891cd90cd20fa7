import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { freePort } from '../process/free-port.ts';
import { tool } from '../process/run-command.ts';
import { s3Client } from './s3-client.ts';

/** A real MinIO of the test's own. */
export interface RunningMinio {
  readonly url: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Gone at once (kill -9). */
  kill(): Promise<void>;
  /** After `kill`, on the same port and data. */
  start(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

const keys = { accessKey: 'minio-root', secretKey: 'minio-password' };

/** A key of its own, so that it encrypts without a key service. */
const ownKey = { MINIO_KMS_SECRET_KEY: `some-key:${Buffer.alloc(32, 7).toString('base64')}` };

/**
 * Starts one that answers at `host`: 127.0.0.1, unless pods of a cluster are to reach it too. `kms` is where its keys come from. One of a single
 * drive knows no locks, no heals and no pools.
 */
export async function startMinio(
  host = '127.0.0.1',
  kms: Readonly<Record<string, string>> = ownKey,
  drives = 1,
): Promise<RunningMinio> {
  const program = tool('bin/minio', 'minio');
  const folder = await mkdtemp(join(tmpdir(), 'coffer-minio-'));
  const address = `${host}:${await freePort()}`;
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    MINIO_ROOT_USER: keys.accessKey,
    MINIO_ROOT_PASSWORD: keys.secretKey,
    // It refuses several drives on the file system of the root otherwise.
    ...(drives > 1 && { MINIO_CI_CD: '1' }),
    ...kms,
  };
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const data = join(folder, drives === 1 ? 'data' : `data{1...${drives}}`);
    child = spawn(program, ['server', data, '--address', address], { env, stdio: 'ignore' });
    await untilInitialized(`http://${address}`);
  }

  async function kill(): Promise<void> {
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    child = undefined;
  }

  await start();
  return {
    url: `http://${address}`,
    ...keys,
    start,
    kill,
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Its probes answer before the identities are loaded; until then each signed request is XMinioServerNotInitialized. */
async function untilInitialized(url: string): Promise<void> {
  const s3 = s3Client({ s3: url, ...keys });
  for (const end = Date.now() + 30_000; ;) {
    const failure = await s3.send(new ListBucketsCommand({})).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure === undefined) break;
    if (Date.now() > end) throw new Error(`MinIO at ${url} is not ready`, { cause: failure });
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
  s3.destroy();
}
