import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { parseBucket, type RemoteTarget } from '../../../config/target.ts';
import {
  getVersioning,
  versioningSetting,
  withVersioning,
  type BucketVersioning,
  type VersioningChange,
} from '../../../s3/bucket-settings.ts';
import { editSetting } from '../../../s3/edit-setting.ts';
import type { Context } from '../../context.ts';

interface EnableOptions {
  /** Separated by commas. */
  readonly excludedPrefixes?: string;
  readonly excludeFolders?: boolean;
}

export async function enableVersioning(
  context: Context,
  [argument = '']: readonly string[],
  { excludedPrefixes, excludeFolders }: EnableOptions,
): Promise<void> {
  const prefixes = (excludedPrefixes ?? '').split(',').filter((prefix) => prefix !== '');
  if (excludedPrefixes !== undefined && prefixes.length === 0) {
    throw new ProgramError('BadArgument', 'Invalid --excluded-prefixes: write PREFIX,PREFIX');
  }
  await change(context, argument, 'enable', {
    status: 'Enabled',
    excludedPrefixes: excludedPrefixes === undefined ? undefined : prefixes,
    excludeFolders,
  });
}

export async function suspendVersioning(context: Context, [argument = '']: readonly string[]): Promise<void> {
  await change(context, argument, 'suspend', { status: 'Suspended' });
}

export async function showVersioning(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const target = await bucketOf(context, argument);
  const versioning = await getVersioning(await context.client(target.alias), target.bucket);
  print(context, 'info', target, versioning);
}

async function change(context: Context, argument: string, op: string, versioning: VersioningChange): Promise<void> {
  const target = await bucketOf(context, argument);
  const client = await context.client(target.alias);
  // MinIO takes the versioning of a bucket that does not exist.
  const before = await getVersioning(client, target.bucket);
  await editSetting(client, target.bucket, versioningSetting, (document = '') => withVersioning(document, versioning));
  print(context, op, target, await getVersioning(client, target.bucket));
  const forgotten = versioning.status === 'Suspended' ? before.excludedPrefixes : [];
  if (forgotten.length === 0) return;
  context.output.hint(`Suspended versioning excludes no prefixes; those that it had: ${forgotten.join(',')}`);
}

async function bucketOf(context: Context, argument: string): Promise<RemoteTarget> {
  return parseBucket(argument.replace(/\/+$/, ''), await context.aliases());
}

const states: Readonly<Record<string, string>> = {
  Enabled: 'versioning is enabled',
  Suspended: 'versioning is suspended',
};

function print({ output }: Context, op: string, target: RemoteTarget, versioning: BucketVersioning): void {
  const { status, mfaDelete, excludedPrefixes, excludeFolders } = versioning;
  const url = `${target.aliasName}/${target.bucket}`;
  const left = [...excludedPrefixes, ...(excludeFolders ? ['folders'] : [])];
  const but = left.length === 0 ? '' : `, except for ${left.join(', ')}`;
  output.message(`${url} ${states[status] ?? 'is un-versioned'}${but}`, {
    Op: op,
    url,
    versioning: {
      status,
      MFADelete: mfaDelete,
      ...(excludedPrefixes.length > 0 && { ExcludedPrefixes: excludedPrefixes }),
      ...(excludeFolders && { ExcludeFolders: true }),
    },
  });
}
