import { bucketNameError } from '../../protocol/s3/names.ts';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { findAlias, type Alias } from './aliases.ts';
import { localPath } from './local-path.ts';

/** An argument that names an object or bucket of a server, or a local path. */
export type Target = RemoteTarget | { readonly kind: 'local'; readonly path: string };

export interface RemoteTarget {
  readonly kind: 'remote';
  /** The argument as written, for messages. */
  readonly text: string;
  readonly aliasName: string;
  readonly alias: Alias;
  /** Empty where the argument names the whole server. */
  readonly bucket: string;
  /** A key or prefix as written, which may begin or end with `/`; empty for the whole bucket. */
  readonly key: string;
}

/**
 * Parses `ALIAS/bucket/key` for a known ALIAS. Any other text is a local path. On Windows a back-slash separates too: after the alias, and
 * in local paths.
 */
export function parseTarget(
  text: string,
  aliases: ReadonlyMap<string, Alias>,
  platform: NodeJS.Platform = process.platform,
): Target {
  const path = localPath(text, platform);
  const [name = ''] = path.split('/', 1);
  return aliases.has(name) ? parseRemote(text, aliases, platform) : { kind: 'local', path };
}

/** Like `parseTarget`, for commands that need a server. */
export function parseRemote(
  given: string,
  aliases: ReadonlyMap<string, Alias>,
  platform: NodeJS.Platform = process.platform,
): RemoteTarget {
  // A key may have back-slashes: only those of an argument without a slash after the alias separate.
  const text = /^[^/]*\\/.test(given) ? localPath(given, platform) : given;
  // Scripts join `mine/` and `/photos`. In a key two slashes stay.
  const [aliasName = '', bucket = '', ...rest] = text.replace(/^([^/]+\/)\/+/, '$1').split('/');
  const alias = findAlias(aliases, aliasName);
  const issue = bucket === '' ? undefined : bucketNameError(bucket);
  if (issue !== undefined) throw new ProgramError('BadArgument', `Invalid bucket name \`${bucket}\`: it ${issue}`);
  const key = rest.join('/');
  return { kind: 'remote', text, aliasName, alias, bucket, key };
}

/** Parses a place of which the end is still to be written, so that the bucket may be part of a name. Undefined for a local path. */
export function parsePlace(text: string, aliases: ReadonlyMap<string, Alias>): RemoteTarget | undefined {
  const [aliasName = '', bucket = '', ...rest] = text.split('/');
  const alias = aliases.get(aliasName);
  return alias && { kind: 'remote', text, aliasName, alias, bucket, key: rest.join('/') };
}

/** Parses a bucket without a key. */
export function parseBucket(text: string, aliases: ReadonlyMap<string, Alias>): RemoteTarget {
  const target = parseRemote(text, aliases);
  if (target.bucket === '')
    throw new ProgramError('BadArgument', `Invalid target \`${text}\`: name a bucket, ALIAS/BUCKET`);
  if (target.key !== '')
    throw new ProgramError('BadArgument', `Invalid target \`${text}\`: name a bucket without a key`);
  return target;
}

/** Parses an object. */
export function parseObject(text: string, aliases: ReadonlyMap<string, Alias>): RemoteTarget {
  const target = parseRemote(text, aliases);
  if (target.key !== '') return target;
  throw new ProgramError('BadArgument', `Invalid target \`${text}\`: name an object, ALIAS/BUCKET/KEY`);
}

/** Writes a key of the target's bucket as an argument. */
export function displayName(target: RemoteTarget, key: string): string {
  return `${target.aliasName}/${target.bucket}/${key}`;
}
