import { setTimeout as sleep } from 'node:timers/promises';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';
import type { S3Client } from '../../s3/client.ts';
import { singleAttempt } from '../../s3/retry.ts';
import { parseRemote } from '../../config/target.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface ReadyOptions {
  readonly clusterRead?: boolean;
  readonly maintenance?: boolean;
  /** Seconds. */
  readonly wait?: string;
}

/** Reports whether the server is ready; with `wait` it repeats the check for that time. */
export async function ready(
  context: Context,
  [argument = '']: readonly string[],
  options: ReadyOptions,
): Promise<void> {
  const { alias, aliasName } = parseRemote(argument, await context.aliases());
  const client = await context.client(alias);
  const seconds = Number(options.wait ?? 0);
  if (!Number.isFinite(seconds) || seconds < 0) {
    throw new ProgramError('BadArgument', `Invalid --wait \`${options.wait}\`: it is a number of seconds`);
  }
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    try {
      await check(context, client, aliasName, options);
      return;
    } catch (error) {
      context.signal.throwIfAborted();
      if (performance.now() >= deadline)
        throw new ProgramError('NotReady', 'The cluster is not ready', { cause: error });
    }
    await sleep(500, undefined, { signal: context.signal });
  }
}

async function check(context: Context, client: S3Client, alias: string, options: ReadyOptions): Promise<void> {
  const path = options.clusterRead === true ? '/minio/health/cluster/read' : '/minio/health/cluster';
  const query = options.maintenance === true ? { maintenance: 'true' } : {};
  const { headers } = await client
    .text({ method: 'GET', path, query, retries: singleAttempt })
    .catch((error: unknown) => {
      if (!(error instanceof ResponseError)) throw error;
      // A server that waits for something says for what.
      throw new Error(
        error.status === 503 ? error.message : `The health check answered with the status ${error.status}`,
      );
    });
  context.output.message('The cluster is ready', {
    alias,
    error: null,
    healthy: true,
    // True where the others could not serve without the server, by the status of the answer.
    maintenanceMode: false,
    writeQuorum: options.clusterRead === true ? 0 : Number(headers['x-minio-write-quorum'] ?? 0),
    healingDrives: Number(headers['x-minio-healing-drives'] ?? 0),
  });
}
