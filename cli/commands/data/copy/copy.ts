import { forEachLimit } from '../../../../platform/async/concurrency.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { parseTarget, type Target } from '../../../config/target.ts';
import { isFolder } from '../../../s3/list-objects.ts';
import { printable } from '../../../../platform/text/printable.ts';
import type { Context } from '../../context.ts';
import type { Failures } from '../entries/entry.ts';
import { chooseDestination, type CopyDestination } from './copy-destination.ts';
import { findSources, type SourceOptions, type WalkedSource } from './find-sources.ts';
import { refuseOwnTarget, removeEmptyFolders, removeSource } from './move-source.ts';
import { Transfer } from './transfer.ts';
import type { TransferOptions } from './transfer-options.ts';
import { ResponseError } from '../../../../protocol/response-error.ts';

export type CopyCommandOptions = SourceOptions & TransferOptions;

/** The command `cp`. It reports a source that fails and continues with the others. */
export async function copy(context: Context, args: readonly string[], options: CopyCommandOptions): Promise<void> {
  const { sources, last } = sourcesAndTarget(args);
  const several = options.recursive === true || sources.length > 1;
  const target = parseTarget(last, await context.aliases());
  if (sources.length > 1) await requireFolder(context, target);
  const destination = await chooseDestination(options.recursive === true ? target : withOneSlash(target), several);
  const transfer = new Transfer(context, args, options);
  await copyAll(context, sources, options, transfer, async (source) => {
    await transfer.copy(source, destination);
  });
}

/** Several copies need a folder, as in other clients. @throws ProgramError BadArgument */
async function requireFolder(context: Context, target: Target): Promise<void> {
  if (target.kind === 'local' || target.key === '' || target.key.endsWith('/')) return;
  const { alias, bucket, key } = target;
  const isThere = await isFolder(await context.client(alias), bucket, `${key}/`).catch((error: unknown) => {
    // The copies report what else is wrong.
    if (error instanceof ResponseError) return true;
    throw error;
  });
  if (isThere) return;
  throw new ProgramError(
    'BadArgument',
    `\`${target.text}\` is no folder, and several copies need one: write \`${target.text}/\``,
  );
}

/** Other clients put single objects below `dir//` into `dir/`, and keep both slashes with `--recursive`. */
function withOneSlash(target: Target): Target {
  return target.kind === 'local' ? target : { ...target, key: target.key.replace(/\/{2,}$/, '/').replace(/^\/$/, '') };
}

/** The command `mv`: it removes each source after its copy arrived, which is equal to it. */
export async function move(context: Context, args: readonly string[], options: CopyCommandOptions): Promise<void> {
  const { sources, last } = sourcesAndTarget(args);
  const aliases = await context.aliases();
  const several = options.recursive === true || sources.length > 1;
  const target = parseTarget(last, aliases);
  const destination = await chooseDestination(options.recursive === true ? target : withOneSlash(target), several);
  const transfer = new Transfer(context, args, { ...options, keepLock: true });
  await copyAll(context, sources, options, transfer, async (source) => moveOne(context, source, destination, transfer));
  if (options.recursive !== true || options.dryRun === true) return;
  for (const source of sources) {
    const target = parseTarget(source, aliases);
    if (target.kind === 'local') await removeEmptyFolders(target.path);
  }
}

async function moveOne(
  context: Context,
  source: WalkedSource,
  destination: CopyDestination,
  transfer: Transfer,
): Promise<void> {
  if (source.kind === 'file' || source.kind === 'object' || source.kind === 'stream') {
    try {
      await refuseOwnTarget(context, source, destination, transfer.encryption);
    } catch (error) {
      transfer.failures.report(error, `Unable to move \`${printable(source.display)}\``);
      return;
    }
  }
  const copied = await transfer.copy(source, destination);
  if (copied === undefined) return;
  await removeSource(context, copied.source, transfer.encryption).catch((error: unknown) => {
    transfer.reportFailure(
      copied.source,
      error,
      `Unable to remove \`${printable(source.display)}\` after it was copied`,
    );
  });
}

function sourcesAndTarget(args: readonly string[]): { readonly sources: readonly string[]; readonly last: string } {
  const last = args.at(-1);
  if (last !== undefined && args.length > 1) return { sources: args.slice(0, -1), last };
  throw new ProgramError('BadArgument', 'Name at least one source and a target');
}

async function copyAll(
  context: Context,
  sources: readonly string[],
  options: SourceOptions,
  transfer: Transfer,
  one: (source: WalkedSource) => Promise<void>,
): Promise<void> {
  try {
    await forEachLimit(all(context, sources, options, transfer.failures), transfer.workers, one);
  } finally {
    transfer.stop();
  }
  // Other clients print the sums also where nothing was to be copied.
  transfer.finish({ always: transfer.failures.count === 0 });
}

/** Yields the sources of all arguments, and reports those that it cannot read. */
async function* all(
  context: Context,
  sources: readonly string[],
  options: SourceOptions,
  failures: Failures,
): AsyncGenerator<WalkedSource, void, undefined> {
  for (const source of sources) {
    try {
      yield* findSources(context, source, options);
    } catch (error) {
      failures.report(error, `Unable to read \`${printable(source)}\``);
    }
  }
}
