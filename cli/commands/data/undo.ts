import { mapStream } from '../../../platform/async/concurrency.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { displayName, parseRemote, type RemoteTarget } from '../../config/target.ts';
import { getVersioning } from '../../s3/bucket-settings.ts';
import { deleteObject } from '../../s3/objects.ts';
import { printable } from '../../../platform/text/printable.ts';
import type { Context } from '../context.ts';
import { Failures, type Entry } from './entries/entry.ts';
import { remoteEntries } from './entries/remote-entries.ts';
import { urlOf } from './settings/each-object.ts';

interface UndoOptions {
  readonly last?: string;
  readonly recursive?: boolean;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly action?: string;
}

/** Concurrent requests. */
const parallel = 8;

/**
 * Undoes the last changes of an object, or of each object below a prefix: it removes the newest versions and delete markers, so that the
 * version before is the latest one again.
 */
export async function undo(context: Context, [argument = '']: readonly string[], options: UndoOptions): Promise<void> {
  const last = Number(options.last ?? 1);
  if (!Number.isInteger(last) || last < 1) {
    throw new ProgramError('BadArgument', `Invalid --last \`${options.last}\`: it is a number above 0`);
  }
  const action = options.action?.toUpperCase();
  if (action !== undefined && action !== 'PUT' && action !== 'DELETE') {
    throw new ProgramError('BadArgument', `Invalid --action \`${options.action}\`: it is PUT or DELETE`);
  }
  const recursive = options.recursive === true;
  if (recursive && options.force !== true && options.dryRun !== true) {
    throw new ProgramError(
      'BadArgument',
      'Undoing recursively needs --force as well; --dry-run shows what it would do',
    );
  }
  const target = parseRemote(argument, await context.aliases());
  if (target.bucket === '' || (target.key === '' && !recursive)) {
    throw new ProgramError(
      'BadArgument',
      `Invalid target \`${argument}\`: name an object, or a bucket with --recursive`,
    );
  }
  await undoAll(context, target, { last, action, recursive, dryRun: options.dryRun === true });
}

interface Undoing {
  readonly last: number;
  readonly action: 'PUT' | 'DELETE' | undefined;
  readonly recursive: boolean;
  readonly dryRun: boolean;
}

async function undoAll(context: Context, target: RemoteTarget, undoing: Undoing): Promise<void> {
  const client = await context.client(target.alias);
  const { status } = await getVersioning(client, target.bucket);
  if (status !== 'Enabled') {
    throw new ProgramError(
      'BadArgument',
      `\`${target.aliasName}/${target.bucket}\` keeps no versions: nothing can be undone there`,
    );
  }
  const failures = new Failures(context);
  let any = false;
  const removed = mapStream(
    newest(remoteEntries(client, target, { recursive: true, versions: true }), target, undoing),
    parallel,
    async (entry) => {
      const { bucket, key, version } = entry;
      if (undoing.dryRun) return { entry };
      return deleteObject(client, { bucket, key, versionId: version?.id }).then(
        () => ({ entry }),
        (error: unknown) => ({ entry, error }),
      );
    },
  );
  for await (const result of removed) {
    any = true;
    if ('error' in result) failures.report(result.error, `Unable to undo \`${printable(result.entry.display)}\``);
    else await print(context, target, result.entry, undoing.dryRun);
  }
  if (!any && !undoing.recursive) throw new ProgramError('NotFound', `\`${target.text}\` has no version to undo`);
  failures.throwIfAny();
}

/** Yields the newest versions of each key, as many as are to be undone. */
async function* newest(
  versions: AsyncIterable<Entry>,
  target: RemoteTarget,
  { last, action, recursive }: Undoing,
): AsyncGenerator<Entry, void, undefined> {
  let key: string | undefined;
  let left = 0;
  for await (const entry of versions) {
    if (!recursive && entry.key !== target.key) return;
    const first = entry.key !== key;
    if (first) left = last;
    key = entry.key;
    const wanted = action === undefined || (action === 'DELETE') === (entry.version?.deleteMarker === true);
    // An object whose newest change is another one stays as it is.
    if (first && !wanted) left = 0;
    if (left === 0) continue;
    left -= 1;
    yield entry;
  }
}

async function print({ output }: Context, target: RemoteTarget, entry: Entry, dryRun: boolean): Promise<void> {
  const { key, version } = entry;
  const what = version?.deleteMarker === true ? 'the removal' : 'the upload';
  const name = `\`${printable(displayName(target, key))}\` (${version?.id ?? ''})`;
  await output.line(`${dryRun ? 'Would undo' : 'Undid'} ${what} of ${name}.`, {
    url: urlOf(target, key),
    key,
    versionId: version?.id,
    ...(version?.deleteMarker === true && { isDeleteMarker: true }),
    ...(dryRun && { dryRun: true }),
  });
}
