import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../../config/cli-error.ts';
import type { Context } from '../context.ts';
import type { S3Client } from '../../s3/client.ts';
import { S3ResponseError } from '../../s3/s3-response-error.ts';
import { singleAttempt } from '../../s3/retry.ts';
import { parseRemote } from '../../config/target.ts';
import { describeError } from '../../terminal/output.ts';

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
    throw new CliError('BadArgument', `Invalid --wait \`${options.wait}\`: it is a number of seconds`);
  }
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    try {
      await check(context, client, aliasName, options);
      return;
    } catch (error) {
      context.signal.throwIfAborted();
      if (performance.now() >= deadline) throw new CliError('NotReady', 'The cluster is not ready', { cause: error });
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
      throw error instanceof S3ResponseError
        ? new Error(`The health check answered with the status ${error.status}`)
        : error;
    });
  context.output.message('The cluster is ready', {
    alias,
    error: null,
    healthy: true,
    // True where the others could not serve without the server, which the status tells.
    maintenanceMode: false,
    writeQuorum: options.clusterRead === true ? 0 : Number(headers['x-minio-write-quorum'] ?? 0),
    healingDrives: Number(headers['x-minio-healing-drives'] ?? 0),
  });
}

interface PingOptions {
  readonly count?: string;
  readonly errorCount?: string;
  /** Seconds. */
  readonly interval?: string;
}

/** Pings the server repeatedly. It ends after `count` pings, after too many errors, or by Ctrl-C. */
export async function ping(context: Context, [argument = '']: readonly string[], options: PingOptions): Promise<void> {
  const { alias } = parseRemote(argument, await context.aliases());
  const client = await context.client(alias);
  const count = positive('--count', options.count, Infinity);
  const maxErrors = positive('--error-count', options.errorCount, Infinity);
  const interval = positive('--interval', options.interval, 1);
  const round = { counter: 0, answered: 0, errors: 0, min: Infinity, max: 0, sum: 0 };
  while (round.counter < count && round.errors < maxErrors) {
    if (round.counter > 0) await sleep(interval * 1_000, undefined, { signal: context.signal });
    round.counter += 1;
    const started = performance.now();
    let error: string | undefined;
    try {
      await client.text({ method: 'GET', path: '/minio/health/live', retries: singleAttempt });
    } catch (failure) {
      context.signal.throwIfAborted();
      error = describeError(failure).cause;
      round.errors += 1;
    }
    const roundtrip = performance.now() - started;
    if (error === undefined) {
      round.answered += 1;
      round.min = Math.min(round.min, roundtrip);
      round.max = Math.max(round.max, roundtrip);
      round.sum += roundtrip;
    }
    print(context, alias.url, { ...round, ...(error === undefined ? { roundtrip } : { error }) });
  }
  if (round.errors > 0) throw new CliError('Reported', `${round.errors} tries failed`);
}

/** Milliseconds. */
interface Round {
  readonly counter: number;
  readonly answered: number;
  readonly errors: number;
  readonly min: number;
  readonly max: number;
  readonly sum: number;
  readonly roundtrip?: number;
  readonly error?: string;
}

function print({ output }: Context, url: string, round: Round): void {
  const { counter, answered, errors, error } = round;
  const figures: Record<string, number | undefined> =
    answered === 0 ? {} : { min: round.min, max: round.max, average: round.sum / answered };
  const { min, max, average } = figures;
  const human =
    `${String(counter).padStart(3)}: ${url}   min=${show(min)}   max=${show(max)}   average=${show(average)}` +
    `   errors=${errors}   roundtrip=${show(round.roundtrip)}${error === undefined ? '' : `   ${error}`}`;
  const server = {
    endpoint: url,
    min: nanoseconds(min),
    max: nanoseconds(max),
    average: nanoseconds(average),
    'error-count': errors,
    error,
    roundtrip: nanoseconds(round.roundtrip),
  };
  output.message(human, { counter, servers: [server] });
}

function show(milliseconds: number | undefined): string {
  return milliseconds === undefined ? '-' : `${milliseconds.toFixed(2)}ms`;
}

function nanoseconds(milliseconds = 0): number {
  return Math.round(milliseconds * 1e6);
}

function positive(option: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new CliError('BadArgument', `Invalid ${option} \`${text}\`: it is a number above 0`);
}
