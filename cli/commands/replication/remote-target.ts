import { bucketNameError } from '../../../protocol/s3/names.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { findAlias } from '../../config/aliases.ts';
import { warnOfArguments } from '../../terminal/prompt.ts';
import type { Context } from '../context.ts';
import { parseSize } from '../data/entries/sizes.ts';

/** The flags that describe the other bucket. */
export interface TargetOptions {
  /** `https://KEY:SECRET@HOST/BUCKET`, or `ALIAS/BUCKET`, whose keys the server then uses. */
  readonly remoteBucket?: string;
  readonly path?: string;
  readonly region?: string;
  readonly bandwidth?: string;
  readonly sync?: boolean | string;
  readonly healthcheckSeconds?: string;
  readonly disableProxy?: boolean;
  readonly proxy?: string;
}

/** The changes of a target that the admin API names in the query. */
export function targetChanges(options: TargetOptions): readonly string[] {
  const changes = {
    sync: options.sync,
    proxy: options.proxy,
    bandwidth: options.bandwidth,
    healthcheck: options.healthcheckSeconds,
    path: options.path,
  };
  return Object.entries(changes)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
}

/** Returns the remote bucket with the fields of the admin API. @throws ProgramError BadArgument; the message has no secret */
export async function remoteTarget(
  context: Context,
  options: TargetOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const { remoteBucket, path = 'auto', bandwidth, healthcheckSeconds = '60' } = options;
  if (remoteBucket === undefined || remoteBucket === '')
    throw new ProgramError('BadArgument', 'Name the other bucket by --remote-bucket');
  if (!['auto', 'on', 'off'].includes(path))
    throw new ProgramError('BadArgument', `Invalid --path \`${path}\`: it is auto, on or off`);
  if (!/^\d{1,6}$/.test(healthcheckSeconds))
    throw new ProgramError('BadArgument', 'Invalid --healthcheck-seconds: a number of seconds');
  const place = await placeOf(context, remoteBucket);
  if (remoteBucket.includes('://') && place.secretKey !== '')
    warnOfArguments(context, 'secret key', 'write ALIAS/BUCKET, with an alias for the other server');
  const issue = bucketNameError(place.bucket);
  if (issue !== undefined)
    throw new ProgramError('BadArgument', `Invalid bucket \`${place.bucket}\` of --remote-bucket: it ${issue}`);
  return {
    endpoint: place.url.host,
    credentials: { accessKey: place.accessKey, secretKey: place.secretKey },
    targetbucket: place.bucket,
    secure: place.url.protocol === 'https:',
    path,
    api: 's3v4',
    type: 'replication',
    region: options.region ?? '',
    bandwidthlimit: bandwidth === undefined ? 0 : parseSize('--bandwidth', bandwidth),
    replicationSync: options.sync === true || options.sync === 'enable',
    healthCheckDuration: Number(healthcheckSeconds) * 1_000_000_000,
    disableProxy: options.disableProxy === true || options.proxy === 'disable',
  };
}

interface Place {
  readonly url: URL;
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

async function placeOf(context: Context, text: string): Promise<Place> {
  const [, scheme, accessKey = '', secretKey = '', rest = ''] =
    /^(https?:\/\/)([^:@/]+):([^@]+)@(.+)$/.exec(text) ?? [];
  if (scheme !== undefined && URL.canParse(scheme + rest)) {
    const url = new URL(scheme + rest);
    return { url, bucket: url.pathname.replaceAll(/^\/+|\/+$/g, ''), accessKey, secretKey };
  }
  if (/^https?:\/\//.test(text))
    throw new ProgramError(
      'BadArgument',
      '--remote-bucket has no keys: write ALIAS/BUCKET, with an alias for the other server',
    );
  const [name = '', bucket = ''] = text.split('/');
  const alias = findAlias(await context.aliases(), name);
  return { url: new URL(alias.url), bucket, accessKey: alias.accessKey, secretKey: alias.secretKey };
}
