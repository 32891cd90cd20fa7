import { bucketNameProblem } from '../../protocol/s3/names.ts';
import { CliError } from './cli-error.ts';
import { findAlias, type Alias } from './aliases.ts';

/** What an argument names: a place on a server, or a path of this machine. */
export type Target = RemoteTarget | { readonly kind: 'local'; readonly path: string };

export interface RemoteTarget {
  readonly kind: 'remote';
  /** As written, for messages. */
  readonly text: string;
  readonly aliasName: string;
  readonly alias: Alias;
  /** '' where the argument names the whole server. */
  readonly bucket: string;
  /** Key or prefix as written; '' for the whole bucket. It may begin or end with `/`. */
  readonly key: string;
}

/** `ALIAS/bucket/key` where ALIAS is known; anything else is a local path. */
export function parseTarget(text: string, aliases: ReadonlyMap<string, Alias>): Target {
  const slash = text.indexOf('/');
  const name = slash < 0 ? text : text.slice(0, slash);
  return aliases.has(name) ? parseRemote(text, aliases) : { kind: 'local', path: text };
}

/** As `parseTarget`, for commands that work on servers only. */
export function parseRemote(text: string, aliases: ReadonlyMap<string, Alias>): RemoteTarget {
  const [aliasName = '', bucket = '', ...rest] = text.split('/');
  const alias = findAlias(aliases, aliasName);
  const problem = bucket === '' ? undefined : bucketNameProblem(bucket);
  if (problem !== undefined) throw new CliError('BadArgument', `Invalid bucket name \`${bucket}\`: it ${problem}`);
  const key = rest.join('/');
  if (bucket === '' && key !== '') throw new CliError('BadArgument', `Invalid target \`${text}\`: it names no bucket`);
  return { kind: 'remote', text, aliasName, alias, bucket, key };
}

/** A target that must be a bucket, without a key. */
export function parseBucket(text: string, aliases: ReadonlyMap<string, Alias>): RemoteTarget {
  const target = parseRemote(text, aliases);
  if (target.bucket === '')
    throw new CliError('BadArgument', `Invalid target \`${text}\`: name a bucket, ALIAS/BUCKET`);
  if (target.key !== '') throw new CliError('BadArgument', `Invalid target \`${text}\`: name a bucket without a key`);
  return target;
}

/** A target that must have a key. */
export function parseObject(text: string, aliases: ReadonlyMap<string, Alias>): RemoteTarget {
  const target = parseRemote(text, aliases);
  if (target.key !== '') return target;
  throw new CliError('BadArgument', `Invalid target \`${text}\`: name an object, ALIAS/BUCKET/KEY`);
}

/** How a key of this target's bucket is written as an argument. */
export function displayName(target: RemoteTarget, key: string): string {
  return `${target.aliasName}/${target.bucket}/${key}`;
}
