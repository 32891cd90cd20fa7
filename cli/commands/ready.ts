import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';
import type { Context } from '../context.ts';
import type { S3Client } from '../s3/client.ts';
import { S3ResponseError } from '../s3/s3-response-error.ts';
import { once } from '../s3/retry.ts';
import { parseRemote } from '../target.ts';

export interface ReadyOptions {
  readonly clusterRead?: boolean;
  readonly maintenance?: boolean;
  /** Seconds. */
  readonly wait?: string;
}

/** Says whether the server can serve; with `wait` only when it can, or when so many seconds have passed. */
export async function ready(context: Context, argument: string, options: ReadyOptions): Promise<void> {
  const { alias } = parseRemote(argument, await context.aliases());
  const client = await context.client(alias);
  const seconds = Number(options.wait ?? 0);
  if (!Number.isFinite(seconds) || seconds < 0) {
    throw new CliError('BadArgument', `Invalid --wait \`${options.wait}\`: it is a number of seconds`);
  }
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    try {
      await check(context, client, options);
      return;
    } catch (error) {
      context.signal.throwIfAborted();
      if (performance.now() >= deadline) throw new CliError('NotReady', 'The cluster is not ready', { cause: error });
    }
    await sleep(500, undefined, { signal: context.signal });
  }
}

async function check(context: Context, client: S3Client, options: ReadyOptions): Promise<void> {
  const path = options.clusterRead === true ? '/minio/health/cluster/read' : '/minio/health/cluster';
  const query = options.maintenance === true ? { maintenance: 'true' } : {};
  const { headers } = await client.text({ method: 'GET', path, query, retries: once }).catch((error: unknown) => {
    throw error instanceof S3ResponseError
      ? new Error(`The health check answered with the status ${error.status}`)
      : error;
  });
  context.output.message('The cluster is ready', {
    healthy: true,
    maintenanceMode: options.maintenance === true,
    writeQuorum: Number(headers['x-minio-write-quorum'] ?? 0),
    healingDrives: Number(headers['x-minio-healing-drives'] ?? 0),
  });
}
