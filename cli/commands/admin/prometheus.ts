import { createHmac } from 'node:crypto';
import { percentEncode } from '../../../protocol/uri/percent-encoding.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Alias } from '../../config/aliases.ts';
import type { Context } from '../context.ts';
import { parseRemote } from '../../config/target.ts';

const kinds = ['cluster', 'node', 'bucket', 'resource'] as const;

const kindsOfV3 = [
  'api',
  'system',
  'debug',
  'cluster',
  'ilm',
  'audit',
  'logger',
  'replication',
  'notification',
  'scanner',
] as const;

interface MetricsOptions {
  /** `v2` or `v3`. */
  readonly apiVersion?: string;
  readonly bucket?: string;
}

interface PrometheusOptions extends MetricsOptions {
  /** Omits the token, for a server with public metrics. */
  readonly public?: boolean;
}

/** Prints the `scrape_configs` of Prometheus for a server. The token does not expire. */
export async function generatePrometheus(
  context: Context,
  [aliasName = '', kind]: readonly string[],
  options: PrometheusOptions,
): Promise<void> {
  const { alias } = parseRemote(aliasName, await context.aliases());
  const metricsPath = metricsPathOf(kind, options);
  const { protocol, host } = new URL(alias.url);
  const scheme = protocol.replace(':', '');
  const jobName = kind === undefined || kind === 'cluster' ? 'minio-job' : `minio-job-${kind}`;
  const bearerToken = options.public === true ? undefined : metricsToken(alias, new Date());
  const human = [
    'scrape_configs:',
    `- job_name: ${jobName}`,
    ...(bearerToken === undefined ? [] : [`  bearer_token: ${bearerToken}`]),
    `  metrics_path: ${metricsPath}`,
    `  scheme: ${scheme}`,
    '  static_configs:',
    `  - targets: ['${host}']`,
  ].join('\n');
  context.output.message(human, {
    jobName,
    bearerToken,
    metricsPath,
    scheme,
    staticConfigs: [{ targets: [host] }],
  });
}

/** Prints the metrics in the text format of Prometheus. */
export async function showMetrics(
  context: Context,
  [aliasName = '', kind]: readonly string[],
  options: MetricsOptions,
): Promise<void> {
  const { alias } = parseRemote(aliasName, await context.aliases());
  const client = await context.client(alias);
  const { text } = await client.text({
    method: 'GET',
    path: metricsPathOf(kind, options),
    bearer: metricsToken(alias, new Date()),
  });
  context.output.message(text.trimEnd(), { metrics: text });
}

/** Returns the path of the metrics of a kind. Without a kind those of the cluster, or of v3 all. @throws ProgramError BadArgument */
export function metricsPathOf(kind: string | undefined, { apiVersion = 'v2', bucket }: MetricsOptions): string {
  if (apiVersion !== 'v2' && apiVersion !== 'v3') {
    throw new ProgramError('BadArgument', `Invalid --api-version \`${apiVersion}\`: it is v2 or v3`);
  }
  const known: readonly string[] = apiVersion === 'v2' ? kinds : kindsOfV3;
  if (kind !== undefined && !known.includes(kind)) {
    throw new ProgramError('BadArgument', `Unknown metrics \`${kind}\`: there are ${known.join(', ')}`);
  }
  if (bucket !== undefined && (apiVersion === 'v2' || (kind !== 'api' && kind !== 'replication'))) {
    throw new ProgramError('BadArgument', '--bucket is for the kinds api and replication of --api-version v3');
  }
  if (apiVersion === 'v2') return `/minio/v2/metrics/${kind ?? 'cluster'}`;
  if (bucket !== undefined) return `/minio/metrics/v3/bucket/${kind}/${percentEncode(bucket)}`;
  return kind === undefined ? '/minio/metrics/v3' : `/minio/metrics/v3/${kind}`;
}

/** Signs a JWT with the secret key of the alias. It is valid for a hundred years, as with MinIO's client. */
export function metricsToken({ accessKey, secretKey }: Pick<Alias, 'accessKey' | 'secretKey'>, now: Date): string {
  if (accessKey === '') throw new ProgramError('BadAlias', 'This alias has no keys to make a token with; use --public');
  const expires = Math.floor(now.getTime() / 1_000) + 100 * 365 * 86_400;
  const parts = [
    { alg: 'HS512', typ: 'JWT' },
    { iss: 'prometheus', sub: accessKey, exp: expires },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const signed = parts.join('.');
  return `${signed}.${createHmac('sha512', secretKey).update(signed).digest('base64url')}`;
}
