import { ProgramError } from '../../platform/errors/program-error.ts';
import { closestName } from '../config/closest-name.ts';
import { listBuckets } from '../s3/buckets.ts';
import type { Context } from './context.ts';
import { ResponseError } from '../../protocol/response-error.ts';

/** Milliseconds. The error itself is known already. */
const waitMs = 2_000;

/** Returns the argument that was meant where one of `subjects` names nothing; undefined if none is close. */
export async function suggestName(
  context: Context,
  error: unknown,
  subjects: readonly string[],
): Promise<string | undefined> {
  for (const subject of subjects) {
    const meant = (await suggestPlace(context, error, subject)) ?? (await suggestBucket(context, error, subject));
    if (meant !== undefined) return meant;
  }
  return undefined;
}

/**
 * Returns the place that was meant where the error names a path that does not exist, and which begins with a name that is almost one of an
 * alias.
 */
async function suggestPlace(context: Context, error: unknown, subject: string): Promise<string | undefined> {
  const [first = '', ...rest] = subject.split('/');
  if (!(error instanceof ProgramError) || error.code !== 'NotFound' || rest.length === 0) return undefined;
  if (!error.message.includes(subject.replace(/\/+$/, ''))) return undefined;
  const closest = closestName(first, (await context.aliases()).keys());
  return closest === undefined || closest === first ? undefined : [closest, ...rest].join('/');
}

/**
 * Returns the bucket that was meant, as an argument, where a command failed because its bucket does not exist. It asks the server, and
 * returns undefined when that fails.
 */
async function suggestBucket(context: Context, error: unknown, subject: string): Promise<string | undefined> {
  const [aliasName = '', bucket = ''] = subject.split('/');
  if (!(error instanceof ResponseError) || error.code !== 'NoSuchBucket' || bucket === '') return undefined;
  try {
    const alias = (await context.aliases()).get(aliasName);
    if (alias === undefined) return undefined;
    const client = await context.newClient(alias, AbortSignal.any([context.signal, AbortSignal.timeout(waitMs)]));
    const names = (await listBuckets(client)).map(({ name }) => name);
    client.close();
    if (names.includes(bucket)) return undefined;
    const closest = closestName(bucket, names);
    return closest && `${aliasName}/${closest}`;
  } catch {
    return undefined;
  }
}
