import { readFile, writeFile } from 'node:fs/promises';
import { adminOf } from '../../admin/admin-client.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';

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

interface ImportReport {
  readonly added?: Readonly<Record<string, readonly unknown[]>>;
  readonly skipped?: Readonly<Record<string, readonly unknown[]>>;
  readonly failed?: Readonly<Record<string, readonly Failure[]>>;
  readonly reasons?: readonly string[];
}

/** Adds what an archive holds. What cannot be taken is told, and the exit code says so. */
export async function importIdentities(context: Context, [alias = '', file = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const body = await readFile(file);
  const report = await admin.json<ImportReport>({ method: 'PUT', call: 'import-iam-v2', body });
  const failed = Object.values(report.failed ?? {}).flat();
  const reasons = report.reasons ?? failed.map(({ name, reason, error }) => `${name}: ${reason ?? error ?? 'refused'}`);
  context.output.message([`Imported from \`${file}\`: ${countsOf(report.added)}.`, ...reasons].join('\n'), {
    ...report,
  });
  if (failed.length > 0) throw new CliError('Reported', `${failed.length} could not be imported`);
}

function countsOf(added: ImportReport['added']): string {
  const counts = Object.entries(added ?? {})
    .filter(([, list]) => list.length > 0)
    .map(([kind, list]) => `${list.length} ${kind.replace(/([A-Z])/g, ' $1').toLowerCase()}`);
  return counts.join(', ') || 'nothing';
}
