import { ProgramError } from '../../platform/errors/program-error.ts';
import { parseRemote, type RemoteTarget } from '../config/target.ts';
import type { S3Client } from '../s3/client.ts';
import type { Context } from './context.ts';

/** Opens the client for `ALIAS/BUCKET`, which a key or a prefix may follow. @throws ProgramError BadArgument */
export async function bucketOf(
  context: Context,
  argument: string,
): Promise<{ client: S3Client; target: RemoteTarget }> {
  const target = parseRemote(argument, await context.aliases());
  if (target.bucket === '')
    throw new ProgramError('BadArgument', `Invalid target \`${argument}\`: name a bucket, ALIAS/BUCKET`);
  return { client: await context.client(target.alias), target };
}
