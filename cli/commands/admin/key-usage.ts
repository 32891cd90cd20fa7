import { adminOf } from '../../admin/admin-client.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { once } from '../../s3/retry.ts';
import { counted } from '../../terminal/format.ts';
import { textTable } from '../../terminal/text-table.ts';

interface KeyUsage {
  readonly objects?: number;
  readonly uploads?: number;
  readonly buckets?: readonly string[];
  /** Identities and settings of the server itself. */
  readonly backend?: boolean;
}

/** What is encrypted with each key. The server looks through everything for it. */
export async function showKeyUsage(context: Context, [alias = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const { keys = {} } = await admin.slow<{ readonly keys?: Readonly<Record<string, KeyUsage>> }>({
    method: 'GET',
    api: 'coffer',
    call: 'kms/key/usage',
  });
  const rows = Object.entries(keys).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const human =
    rows.length === 0
      ? 'Nothing is encrypted.'
      : textTable(
          ['KEY', 'OBJECTS', 'UPLOADS', 'DEFAULT OF', 'THE SERVER ITSELF'],
          rows.map(([key, { objects = 0, uploads = 0, buckets = [], backend }]) => [
            key,
            String(objects),
            String(uploads),
            buckets.join(', ') || '-',
            backend === true ? 'yes' : 'no',
          ]),
        );
  context.output.list(
    human,
    rows.map(([keyId, usage]) => ({ keyId, ...usage })),
  );
}

/** Refused while something is encrypted with it, unless `force` names it again. */
export async function removeKey(
  context: Context,
  [alias = '', key = '']: readonly string[],
  { force }: { readonly force?: string },
): Promise<void> {
  if (force !== undefined && force !== key) {
    throw new CliError('BadArgument', `--force takes the name of the key again: \`${key}\`, not \`${force}\``);
  }
  const admin = await adminOf(context, alias);
  const { lost } = await admin.slow<{ readonly lost?: KeyUsage | null }>({
    method: 'DELETE',
    api: 'kms',
    call: 'key/delete',
    query: { 'key-id': key, force },
    retries: once,
  });
  const objects = lost?.objects ?? 0;
  context.output.message(
    objects === 0
      ? `Removed key \`${key}\` successfully.`
      : `Removed key \`${key}\`: ${counted(objects, 'object')} ${objects === 1 ? 'is' : 'are'} lost.`,
    { keyId: key, lost: lost ?? null },
  );
}
