import { readFile, writeFile } from 'node:fs/promises';
import { adminOf } from '../admin-client.ts';
import { CliError } from '../../config/cli-error.ts';
import type { Context } from '../context.ts';
import { parseRemote } from '../../config/target.ts';

/** What is set for the buckets of a server, or for one: policies, tags, encryption. What is in them is not in it. */
export async function exportBuckets(
  context: Context,
  [target = '']: readonly string[],
  options: { readonly output?: string },
): Promise<void> {
  const { aliasName, bucket } = await serverOrBucket(context, target);
  const admin = await adminOf(context, aliasName);
  const query = bucket === '' ? {} : { bucket };
  const { bytes } = await admin.bytes({ method: 'GET', call: 'export-bucket-metadata', query });
  const file = options.output ?? `${aliasName}-${bucket === '' ? 'bucket' : bucket}-metadata.zip`;
  await writeFile(file, bytes);
  const what = bucket === '' ? `the buckets of ${aliasName}` : `the bucket ${bucket} of ${aliasName}`;
  context.output.message(`Wrote what is set for ${what} to \`${file}\`; objects are not in it.`, { file });
}

interface PartReport {
  readonly isSet?: boolean;
  readonly error?: string;
}

/** By bucket what became of each part; `error` where the bucket itself could not be had. */
type BucketImportReport = Readonly<Record<string, Readonly<Record<string, PartReport | string>>>>;

/** Sets what an archive holds, of all its buckets or of one. What cannot be taken is told, and the exit code says so. */
export async function importBuckets(context: Context, [target = '', file = '']: readonly string[]): Promise<void> {
  const { aliasName, bucket } = await serverOrBucket(context, target);
  const admin = await adminOf(context, aliasName);
  const body = await readFile(file);
  const query = bucket === '' ? {} : { bucket };
  const answer = await admin.json<{ readonly buckets?: BucketImportReport }>({
    method: 'PUT',
    call: 'import-bucket-metadata',
    query,
    body,
  });
  const buckets = answer.buckets ?? {};
  const failures = Object.entries(buckets).flatMap(([name, parts]) => failuresOf(name, parts));
  const names = Object.keys(buckets).join(', ') || 'nothing';
  // Stock clients print the buckets as they come, without a name for the whole.
  context.output.message([`Imported from \`${file}\`: ${names}.`, ...failures].join('\n'), { ...buckets });
  if (failures.length > 0) throw new CliError('Reported', `${failures.length} could not be imported`);
}

function failuresOf(bucket: string, parts: BucketImportReport[string]): string[] {
  return Object.entries(parts).flatMap(([part, report]) => {
    const error = typeof report === 'string' ? report : report.error;
    if (error === undefined || error === '') return [];
    return [part === 'error' ? `${bucket}: ${error}` : `${bucket}, ${part}: ${error}`];
  });
}

async function serverOrBucket(context: Context, target: string) {
  const { aliasName, bucket, key } = parseRemote(target.replace(/\/+$/, ''), await context.aliases());
  if (key !== '') {
    throw new CliError('BadArgument', `Invalid target \`${target}\`: name a server, or one of its buckets`);
  }
  return { aliasName, bucket };
}

/** All users, groups, policies and access keys as an archive. It holds secret keys: only its owner may read the file. */
export async function exportIdentities(
  context: Context,
  [alias = '']: readonly string[],
  options: { readonly output?: string },
): Promise<void> {
  const admin = await adminOf(context, alias);
  const { bytes } = await admin.bytes({ method: 'GET', call: 'export-iam' });
  const file = options.output ?? `${alias.replace(/\/+$/, '')}-iam-info.zip`;
  await writeFile(file, bytes, { mode: 0o600 });
  context.output.message(`Wrote the identities of ${alias} to \`${file}\`. It holds secret keys: keep it safe.`, {
    file,
  });
}

interface Failure {
  readonly name: string;
  readonly reason?: string;
  /** As MinIO says it. */
  readonly error?: string;
}

interface IdentityImportReport {
  readonly added?: Readonly<Record<string, readonly unknown[]>>;
  readonly skipped?: Readonly<Record<string, readonly unknown[]>>;
  readonly failed?: Readonly<Record<string, readonly Failure[]>>;
  readonly reasons?: readonly string[];
}

/** Adds what an archive holds. What cannot be taken is told, and the exit code says so. */
export async function importIdentities(context: Context, [alias = '', file = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const body = await readFile(file);
  const report = await admin.json<IdentityImportReport>({ method: 'PUT', call: 'import-iam-v2', body });
  const failed = Object.values(report.failed ?? {}).flat();
  const reasons = report.reasons ?? failed.map(({ name, reason, error }) => `${name}: ${reason ?? error ?? 'refused'}`);
  context.output.message([`Imported from \`${file}\`: ${countsOf(report.added)}.`, ...reasons].join('\n'), {
    ...report,
  });
  if (failed.length > 0) throw new CliError('Reported', `${failed.length} could not be imported`);
}

function countsOf(added: IdentityImportReport['added']): string {
  const counts = Object.entries(added ?? {})
    .filter(([, list]) => list.length > 0)
    .map(([kind, list]) => `${list.length} ${kind.replace(/([A-Z])/g, ' $1').toLowerCase()}`);
  return counts.join(', ') || 'nothing';
}
