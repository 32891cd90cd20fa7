import { readFile } from 'node:fs/promises';
import { adminOf } from '../admin-client.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';
import { writeOutputFile } from '../../config/output-file.ts';
import { parseRemote } from '../../config/target.ts';

/** Writes the configuration of all buckets, or of one, to an archive: policies, tags, encryption. The archive has no objects. */
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
  await writeOutputFile(file, bytes, 0o600);
  const what = bucket === '' ? `the buckets of ${aliasName}` : `the bucket ${bucket} of ${aliasName}`;
  context.output.message(`Wrote what is set for ${what} to \`${file}\`; objects are not in it.`, { file });
}

interface PartReport {
  readonly isSet?: boolean;
  readonly error?: string;
}

/** The result of each part by bucket; `error` reports that the bucket itself failed. */
type BucketImportReport = Readonly<Record<string, Readonly<Record<string, PartReport | string>>>>;

/** Applies an archive to all its buckets, or to one. The command prints each failure and exits with 1. */
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
  // Stock clients print the buckets at the top level of the document.
  context.output.message([`Imported from \`${file}\`: ${names}.`, ...failures].join('\n'), { ...buckets });
  if (failures.length > 0) throw new ProgramError('Reported', `${failures.length} could not be imported`);
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
    throw new ProgramError('BadArgument', `Invalid target \`${target}\`: name a server, or one of its buckets`);
  }
  return { aliasName, bucket };
}

/** Writes all users, groups, policies and access keys to an archive. The archive has secret keys, so only the owner can read the file. */
export async function exportIdentities(
  context: Context,
  [alias = '']: readonly string[],
  options: { readonly output?: string },
): Promise<void> {
  const admin = await adminOf(context, alias);
  const { bytes } = await admin.bytes({ method: 'GET', call: 'export-iam' });
  const file = options.output ?? `${alias.replace(/\/+$/, '')}-iam-info.zip`;
  await writeOutputFile(file, bytes, 0o600);
  context.output.message(`Wrote the identities of ${alias} to \`${file}\`. It holds secret keys: keep it safe.`, {
    file,
  });
}

interface Failure {
  readonly name: string;
  readonly reason?: string;
  /** The field of MinIO. */
  readonly error?: string;
}

interface IdentityImportReport {
  readonly added?: Readonly<Record<string, readonly unknown[]>>;
  readonly skipped?: Readonly<Record<string, readonly unknown[]>>;
  readonly failed?: Readonly<Record<string, readonly Failure[]>>;
  readonly reasons?: readonly string[];
}

/** Adds the content of an archive. The command prints each failure and exits with 1. */
export async function importIdentities(context: Context, [alias = '', file = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const body = await readFile(file);
  const report = await admin.json<IdentityImportReport>({ method: 'PUT', call: 'import-iam-v2', body });
  const reasons = report.reasons ?? leftOutBy(report);
  context.output.message([`Imported from \`${file}\`: ${countsOf(report.added)}.`, ...reasons].join('\n'), {
    ...report,
  });
  if (reasons.length > 0) throw new ProgramError('Reported', `${reasons.length} could not be imported`);
}

/** A MinIO reports no reasons. */
function leftOutBy({ failed = {}, skipped = {} }: IdentityImportReport): string[] {
  const names = Object.values(skipped)
    .flat()
    .flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.keys(entry as object)));
  return [
    ...Object.values(failed)
      .flat()
      .map(({ name, reason, error }) => `${name}: ${reason ?? error ?? 'refused'}`),
    ...names.map((name) => `${name}: skipped`),
  ];
}

function countsOf(added: IdentityImportReport['added']): string {
  const counts = Object.entries(added ?? {})
    .filter(([, list]) => list.length > 0)
    .map(([kind, list]) => `${list.length} ${nounOf(kind, list.length)}`);
  return counts.join(', ') || 'nothing';
}

/** Such as `service accounts` for `serviceAccounts`, and `policy` for one of `policies`. */
function nounOf(kind: string, count: number): string {
  const plural = kind.replace(/([A-Z])/g, ' $1').toLowerCase();
  return count === 1 ? plural.replace(/ies$/, 'y').replace(/s$/, '') : plural;
}
