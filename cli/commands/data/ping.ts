import { setTimeout as sleep } from 'node:timers/promises';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { parseRemote } from '../../config/target.ts';
import type { S3Client } from '../../s3/client.ts';
import { singleAttempt } from '../../s3/retry.ts';
import { describeError } from '../../terminal/output.ts';
import { adminOf } from '../admin-client.ts';
import type { Context } from '../context.ts';

interface PingOptions {
  readonly count?: string;
  readonly errorCount?: string;
  /** Seconds. */
  readonly interval?: string;
  /** Ends when all servers answer. */
  readonly exit?: boolean;
  /** Pings each server of the cluster at its own address. */
  readonly distributed?: boolean;
}

/** The answers of one server so far. Times are in milliseconds. */
interface Server {
  readonly url: string;
  readonly client: S3Client;
  answered: number;
  /** The errors since the last answer. */
  errors: number;
  min: number;
  max: number;
  sum: number;
}

/** The result of one ping. */
type Answer = { readonly roundtrip: number } | { readonly error: string };

/** Pings the server repeatedly. It ends after `count` pings, after that many errors one after the other, or by Ctrl-C. */
export async function ping(context: Context, [argument = '']: readonly string[], options: PingOptions): Promise<void> {
  const count = positive('--count', options.count, Infinity);
  const maxErrors = positive('--error-count', options.errorCount, Infinity);
  const interval = positive('--interval', options.interval, 1);
  const servers = await serversOf(context, argument, options.distributed === true);
  let failed = 0;
  for (let counter = 1; counter <= count; counter += 1) {
    if (counter > 1) await sleep(interval * 1_000, undefined, { signal: context.signal });
    const answers = await Promise.all(servers.map(async (server) => pingOnce(context, server)));
    print(context, counter, servers, answers);
    const errors = answers.filter((answer) => 'error' in answer).length;
    failed += errors;
    if (options.exit === true && errors === 0) return;
    if (servers.some((server) => server.errors >= maxErrors)) break;
  }
  if (failed > 0) throw new ProgramError('Reported', `${failed} tries failed`);
}

async function serversOf(context: Context, argument: string, isDistributed: boolean): Promise<readonly Server[]> {
  const { alias } = parseRemote(argument, await context.aliases());
  const server = async (url: string): Promise<Server> => {
    const client = await context.client(url === alias.url ? alias : { ...alias, url });
    return { url, client, answered: 0, errors: 0, min: Infinity, max: 0, sum: 0 };
  };
  if (!isDistributed) return [await server(alias.url)];
  const info = await (await adminOf(context, argument)).json<ClusterInfo>({ method: 'GET', call: 'info' });
  const { protocol } = new URL(alias.url);
  const urls = (info.servers ?? []).map(({ endpoint = '' }) => `${protocol}//${endpoint}`);
  if (urls.length === 0 || !urls.every((url) => URL.canParse(url))) {
    throw new ProgramError('Failed', 'The server does not name the servers of its cluster');
  }
  return Promise.all(urls.map(server));
}

interface ClusterInfo {
  readonly servers?: readonly { readonly endpoint?: string }[];
}

async function pingOnce(context: Context, server: Server): Promise<Answer> {
  const started = performance.now();
  try {
    await server.client.text({ method: 'GET', path: '/minio/health/live', retries: singleAttempt });
  } catch (failure) {
    context.signal.throwIfAborted();
    server.errors += 1;
    return { error: describeError(failure).cause };
  }
  const roundtrip = performance.now() - started;
  server.errors = 0;
  server.answered += 1;
  server.min = Math.min(server.min, roundtrip);
  server.max = Math.max(server.max, roundtrip);
  server.sum += roundtrip;
  return { roundtrip };
}

function print({ output }: Context, counter: number, servers: readonly Server[], answers: readonly Answer[]): void {
  const shown = servers.map((server, at) => describe(server, answers[at] ?? { error: '' }));
  const human = shown.map((one) => `${String(counter).padStart(3)}: ${one.human}`).join('\n');
  output.message(human, { counter, servers: shown.map((one) => one.fields) });
}

function describe({ url, answered, errors, ...times }: Server, answer: Answer) {
  const figures: Record<string, number | undefined> =
    answered === 0 ? {} : { min: times.min, max: times.max, average: times.sum / answered };
  const { min, max, average } = figures;
  const roundtrip = 'error' in answer ? undefined : answer.roundtrip;
  const error = 'error' in answer ? answer.error : undefined;
  return {
    human:
      `${url}   min=${show(min)}   max=${show(max)}   average=${show(average)}` +
      `   errors=${errors}   roundtrip=${show(roundtrip)}${error === undefined ? '' : `   ${error}`}`,
    fields: {
      endpoint: url,
      min: nanoseconds(min),
      max: nanoseconds(max),
      average: nanoseconds(average),
      'error-count': errors,
      error,
      roundtrip: nanoseconds(roundtrip),
    },
  };
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
  throw new ProgramError('BadArgument', `Invalid ${option} \`${text}\`: it is a number above 0`);
}
