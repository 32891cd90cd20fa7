import { ProgramError } from '../../../platform/errors/program-error.ts';
import { addShares, readShares, type Share, type ShareKind } from '../../config/shares.ts';
import { parseRemote, type RemoteTarget } from '../../config/target.ts';
import { headObject, type ObjectRef } from '../../s3/objects.ts';
import { postFields } from '../../s3/post-policy.ts';
import { presignedUrl } from '../../s3/presigned-url.ts';
import { formatDuration } from '../../terminal/format.ts';
import type { Context } from '../context.ts';
import { requirePlace } from './entries/entries.ts';
import { remoteEntries } from './entries/remote-entries.ts';
import { parseDuration } from './entries/times.ts';
import { urlOf } from './settings/each-object.ts';

interface DownloadOptions {
  readonly recursive?: boolean;
  readonly versionId?: string;
  readonly expire?: string;
}

/** Prints addresses with which everybody can read objects until they expire. */
export async function shareDownload(
  context: Context,
  [argument = '']: readonly string[],
  options: DownloadOptions,
): Promise<void> {
  const expires = parseExpiry(options.expire);
  const target = await parseShared(context, argument);
  const now = new Date();
  const shares: Share[] = [];
  for await (const ref of objectsOf(context, target, options)) {
    const share = presignedUrl(target.alias, ref, { now, expires, region: regionOf(context) }).href;
    const versionId = ref.versionId ?? '';
    shares.push({
      url: urlOf(target, ref.key),
      share,
      versionId,
      created: now,
      expires: expires * 1_000,
      contentType: '',
    });
    print(context, shares.at(-1), now);
  }
  await addShares(context, 'download', shares, now);
}

/** A folder shares what is directly in it, or with `recursive` everything. */
async function* objectsOf(
  context: Context,
  target: RemoteTarget,
  { recursive = false, versionId }: DownloadOptions,
): AsyncGenerator<ObjectRef, void, undefined> {
  const client = await context.client(target.alias);
  const { bucket, key } = target;
  if (!recursive && key !== '' && !key.endsWith('/')) {
    await headObject(client, { bucket, key, versionId });
    yield { bucket, key, versionId };
    return;
  }
  if (versionId !== undefined) throw new ProgramError('BadArgument', '--version-id needs one object');
  await requirePlace(context, target);
  for await (const entry of remoteEntries(client, target, { recursive })) {
    if (entry.kind === 'file' && !entry.key.endsWith('/')) yield { bucket, key: entry.key };
  }
}

interface UploadOptions {
  readonly recursive?: boolean;
  readonly contentType?: string;
  readonly expire?: string;
}

/** Prints a command with which everybody can upload one object, or with `recursive` objects below a prefix. */
export async function shareUpload(
  context: Context,
  [argument = '']: readonly string[],
  options: UploadOptions,
): Promise<void> {
  const expires = parseExpiry(options.expire);
  const target = await parseShared(context, argument);
  const { bucket, key, alias } = target;
  const isPrefix = options.recursive === true || key === '' || key.endsWith('/');
  const now = new Date();
  const region = regionOf(context) ?? 'us-east-1';
  const { contentType } = options;
  const fields = postFields(alias, { bucket, key, isPrefix, contentType, now, expires, region });
  const parts = Object.entries(fields).map(([name, value]) => `-F ${quoted(`${name}=${value}`)}`);
  if (isPrefix) parts.push(`-F ${quoted(`key=${key}<NAME>`)}`);
  const share = `curl ${quoted(`${alias.url}/${bucket}/`)} ${parts.join(' ')} -F ${quoted('file=@<FILE>')}`;
  const shared = {
    url: urlOf(target, key),
    share,
    versionId: '',
    created: now,
    expires: expires * 1_000,
    contentType: contentType ?? '',
  };
  print(context, shared, now);
  await addShares(context, 'upload', [shared], now);
}

/** Shows the links of this machine that have not expired. */
export async function listShares(context: Context, [kind = '']: readonly string[]): Promise<void> {
  if (kind !== 'download' && kind !== 'upload') {
    throw new ProgramError('BadArgument', `Invalid kind \`${kind}\`: it is download or upload`);
  }
  const now = new Date();
  for (const share of await readShares(context.folder, kind satisfies ShareKind, now)) print(context, share, now);
}

function print({ output }: Context, share: Share | undefined, now: Date): void {
  if (share === undefined) return;
  const left = share.created.getTime() + share.expires - now.getTime();
  const type = share.contentType === '' ? [] : [`Content-type: ${share.contentType}`];
  const lines = [`URL: ${share.url}`, `Expire: ${formatDuration(left / 1_000)}`, ...type, `Share: ${share.share}`];
  output.message(`${lines.join('\n')}\n`, {
    url: share.url,
    share: share.share,
    timeLeft: Math.round(left * 1e6),
    ...(share.contentType !== '' && { contentType: share.contentType }),
  });
}

async function parseShared(context: Context, argument: string): Promise<RemoteTarget> {
  const target = parseRemote(argument, await context.aliases());
  if (target.bucket === '')
    throw new ProgramError('BadArgument', `Invalid target \`${argument}\`: name a bucket or object`);
  // The client has renewed the credentials of a login.
  const { accessKey, webIdentity } = target.alias;
  if (accessKey !== '' || webIdentity !== undefined)
    return { ...target, alias: (await context.client(target.alias)).alias };
  throw new ProgramError(
    'BadAlias',
    `The alias \`${target.aliasName}\` has no keys: a link needs those of the one who shares`,
  );
}

function regionOf({ io }: Context): string | undefined {
  return io.env['COFFER_REGION'] || io.env['MC_REGION'] || undefined;
}

/** Seconds; seven days by default, which is the limit of S3. */
function parseExpiry(text = '168h'): number {
  const seconds = parseDuration('--expire', text) / 1_000;
  if (seconds >= 1 && seconds <= 604_800) return seconds;
  throw new ProgramError('BadArgument', `Invalid --expire \`${text}\`: it is from 1s to 168h`);
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
