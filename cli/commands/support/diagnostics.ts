import { addAbortSignal, Readable } from 'node:stream';
import { decryptFile } from '../../../protocol/admin/admin-payload.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { writeOutputFile } from '../../config/output-file.ts';
import { parseRemote } from '../../config/target.ts';
import { type AdminClient, adminOf, jsonLines, pathPart, type AdminRequest } from '../admin-client.ts';
import { documentText } from '../../terminal/document-text.ts';
import type { Context } from '../context.ts';
import { parseSize } from '../data/entries/sizes.ts';
import { speedFailure } from './speed-failure.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface FileOptions {
  /** The destination of the answer. */
  readonly output?: string;
}

/** Writes what a server reports of its health to a file. Nothing is sent anywhere else. */
export async function diagnose(
  context: Context,
  [alias = '']: readonly string[],
  options: FileOptions & { readonly anonymize?: string },
): Promise<void> {
  const { anonymize = 'standard' } = options;
  if (anonymize !== 'standard' && anonymize !== 'strict') {
    throw new ProgramError('BadArgument', `Invalid --anonymize \`${anonymize}\`: it is standard or strict`);
  }
  const query = { deadline: '1h0m0s', anonymize, ...Object.fromEntries(healthParts.map((part) => [part, 'true'])) };
  const request: AdminRequest = { method: 'GET', call: 'healthinfo', query };
  await save(context, alias, request, options.output ?? `${nameOf(alias)}-health.json`);
}

const healthParts = [
  'minioinfo',
  'minioconfig',
  'syscpu',
  'sysdrivehw',
  'sysosinfo',
  'sysload',
  'sysmem',
  'sysnet',
  'sysprocess',
  'syserrors',
  'sysservices',
  'sysconfig',
  'replication',
  'shards',
];

const profileKinds = ['cpu', 'cpuio', 'mem', 'block', 'mutex', 'trace', 'threads', 'goroutines', 'runtime'];

/** Writes the profiles of a server to a file. */
export async function profile(
  context: Context,
  [alias = '']: readonly string[],
  options: FileOptions & { readonly duration?: string; readonly type?: string },
): Promise<void> {
  const { duration = '10', type = 'cpu,mem,block,mutex,goroutines' } = options;
  const unknown = type.split(',').find((kind) => !profileKinds.includes(kind));
  if (unknown !== undefined) {
    throw new ProgramError(
      'BadArgument',
      `Unknown type of profile \`${unknown}\`: there are ${profileKinds.join(', ')}`,
    );
  }
  if (!/^[1-9]\d{0,3}$/.test(duration))
    throw new ProgramError('BadArgument', `Invalid --duration \`${duration}\`: a number of seconds`);
  const query = { profilerType: type, duration: `${duration}s` };
  await save(context, alias, { method: 'POST', call: 'profile', query }, options.output ?? 'profile.zip');
}

/** The first byte of an inspection whose next 32 bytes are the key of the rest, a zip. */
const withKey = 1;
const keyBytes = 32;

/** Writes what a server stores for the objects that match to a zip. */
export async function inspect(
  context: Context,
  [argument = '']: readonly string[],
  options: FileOptions,
): Promise<void> {
  const { aliasName, bucket, key } = parseRemote(argument, await context.aliases());
  if (bucket === '' || key === '')
    throw new ProgramError('BadArgument', `Invalid target \`${argument}\`: write ALIAS/BUCKET/PATH`);
  const admin = await adminOf(context, aliasName);
  const request: AdminRequest = { method: 'GET', call: 'inspect-data', query: { volume: bucket, file: key } };
  const { bytes } = await admin.bytes(request);
  if (bytes[0] !== withKey) throw new ProgramError('Failed', 'The answer is of a format that this client cannot read');
  const zip = decryptFile(bytes.subarray(1, 1 + keyBytes), bytes.subarray(1 + keyBytes));
  await written(context, options.output ?? `inspect-${bucket}.zip`, Readable.from([zip]));
}

async function save(context: Context, alias: string, request: AdminRequest, file: string): Promise<void> {
  const admin = await adminOf(context, alias);
  const { body } = await admin.stream(request);
  await written(context, file, body);
}

async function written(context: Context, file: string, content: Readable): Promise<void> {
  await writeOutputFile(file, addAbortSignal(context.signal, content), 0o600);
  context.output.message(`Wrote \`${file}\`; only you can read it.`, { file });
}

function nameOf(alias: string): string {
  return alias.replace(/\/+$/, '');
}

interface PerfOptions {
  readonly duration?: string;
  readonly concurrent?: string;
  readonly size?: string;
  readonly bucket?: string;
}

const perfCalls = {
  object: 'speedtest',
  drive: 'speedtest/drive',
  net: 'speedtest/net',
  'site-replication': 'speedtest/site',
} as const;

/** Has a server measure itself: objects, drives, the network or site replication. The arguments are `[KIND] ALIAS`. */
export async function perf(context: Context, args: readonly string[], options: PerfOptions): Promise<void> {
  const [kind, alias] = args.length === 2 ? args : [undefined, args[0]];
  if (args.length > 2 || alias === undefined || (kind !== undefined && !Object.hasOwn(perfCalls, kind))) {
    throw new ProgramError(
      'BadArgument',
      `Write [KIND] ALIAS, where KIND is one of ${Object.keys(perfCalls).join(', ')}`,
    );
  }
  const admin = await adminOf(context, alias);
  const { duration = '10s', concurrent = '32', size = '64MiB' } = options;
  // As with mc, a given number is the only one that is measured.
  const autotune = String(options.concurrent === undefined);
  const kinds = kind === undefined ? (['net', 'drive', 'object'] as const) : [kind as keyof typeof perfCalls];
  const failures: string[] = [];
  for (const one of kinds) {
    const query = {
      object: { size: parseSize('--size', size), duration, concurrent, autotune, bucket: options.bucket },
      drive: { blocksize: 4 * 1_024 * 1_024, filesize: 1_024 * 1_024 * 1_024 },
      net: { duration },
      'site-replication': { duration },
    }[one];
    const last = await lastResult(admin, { method: 'POST', call: perfCalls[one], query }).catch((error: unknown) => {
      // A server by itself has no network between servers; the other measurements follow.
      if (kind === undefined && error instanceof ResponseError && error.code === 'NotImplemented') return undefined;
      throw error;
    });
    if (last === undefined) continue;
    const failure = speedFailure(last);
    if (failure === undefined) context.output.message(`${one}\n${documentText(last)}`, { type: one, perf: last });
    else failures.push(`the measurement ${one} of ${alias} failed: ${failure}`);
  }
  if (failures.length > 0) throw new ProgramError('Failed', failures.join('\n'));
}

async function lastResult(admin: AdminClient, request: AdminRequest): Promise<unknown> {
  const { body } = await admin.stream(request);
  let last: unknown;
  for await (const result of jsonLines<unknown>(body)) last = result;
  return last;
}

interface LockEntry {
  readonly time: string;
  readonly resource: string;
  readonly type: string;
  readonly source: string;
  readonly owner: string;
}

export async function topLocks(
  context: Context,
  [alias = '']: readonly string[],
  { count = '10', stale = false }: { readonly count?: string; readonly stale?: boolean },
): Promise<void> {
  const admin = await adminOf(context, alias);
  const query = { count, stale: String(stale) };
  const locks = (await admin.json<readonly LockEntry[] | null>({ method: 'GET', call: 'top/locks', query })) ?? [];
  const rows = locks.map(({ time, type, source, resource, owner }) => [time, type, source, resource, owner]);
  const human =
    rows.length === 0
      ? 'No locks are held'
      : context.output.table(['Time', 'Type', 'Source', 'Resource', 'Owner'], rows);
  context.output.list(
    human,
    locks.map((lock) => ({ locks: lock })),
  );
}

/** Prints how far the scanner is with a bucket. */
export async function bucketScan(context: Context, [alias = '']: readonly string[], bucket: string): Promise<void> {
  const admin = await adminOf(context, alias);
  const scans = await admin.json<unknown>({ method: 'GET', call: `scanner/status/${pathPart(bucket)}` });
  context.output.message(documentText(scans), { bucket, scans });
}

/** The bits of the metrics in the admin API. */
const metricTypes = { scanner: 1, drive: 2, 'site-resync': 16, net: 32, rpc: 256 } as const;

interface TopOptions {
  /** Seconds between two reports. */
  readonly interval?: string;
  /** The number of reports; 0 goes on until Ctrl-C. */
  readonly n?: string;
  readonly nodes?: string;
  /** The deployment of the other site. */
  readonly deployment?: string;
}

/** Prints the metrics of a server, one report after the other. */
export async function topMetrics(
  context: Context,
  [alias = '']: readonly string[],
  { interval = '1', n = '0', nodes = '', deployment = '' }: TopOptions,
  kind: keyof typeof metricTypes,
): Promise<void> {
  const admin = await adminOf(context, alias);
  const by = {
    scanner: {},
    drive: { 'by-disk': 'true' },
    'site-resync': { 'by-depID': deployment },
    net: { 'by-host': 'true' },
    rpc: { 'by-host': 'true' },
  }[kind];
  const query = { types: metricTypes[kind], interval: `${interval}s`, n, hosts: nodes, ...by };
  const { body } = await admin.stream({ method: 'GET', call: 'metrics', query });
  for await (const metrics of jsonLines<Readonly<Record<string, unknown>>>(body)) {
    await context.output.line(documentText(metrics), metrics);
  }
}
