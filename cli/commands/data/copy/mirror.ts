import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { parseTarget, type Target } from '../../../config/target.ts';
import { listBuckets } from '../../../s3/buckets.ts';
import { formatSize } from '../../../terminal/format.ts';
import { printable } from '../../../../platform/text/printable.ts';
import type { Context } from '../../context.ts';
import { asFolder, requirePlace } from '../entries/entries.ts';
import { anyGlob } from '../entries/name-patterns.ts';
import { ageTest } from '../entries/times.ts';
import { bucketIn, mirrorFolder, type Mirroring, type MirrorOptions } from './mirror-folder.ts';
import { Excludes, parseMaxDelete, warnOfPatterns } from './mirror-excludes.ts';
import { watchAndMirror } from './mirror-watch.ts';
import { Transfer } from './transfer.ts';

/**
 * Makes the target hold what the source holds. A file that is in the target with another size, or an older time, is replaced only with
 * `overwrite`. With `watch` it then copies and removes what changes in the source, until it is interrupted.
 */
export async function mirror(context: Context, args: readonly string[], given: MirrorOptions): Promise<void> {
  const aliases = await context.aliases();
  const [source, target] = args.map((argument) => asFolder(parseTarget(argument, aliases)));
  if (source === undefined || target === undefined) throw new ProgramError('BadArgument', 'Name a source and a target');
  const isWatching = given.watch === true || given.activeActive === true;
  // A change at the source replaces the object of the target.
  // As in other clients, copies keep tags and locks while the command watches.
  const isBetween = source.kind === 'remote' && target.kind === 'remote';
  const preserve = given.preserve === true || (isWatching && isBetween);
  const options = { ...given, preserve, watch: isWatching, overwrite: given.overwrite === true || isWatching };
  checkOptions(options, source, target);
  // With --remove a mistyped source would empty the target.
  await requirePlace(context, source);
  const transfer = new Transfer(context, args, options);
  const isOfAge = ageTest(options, new Date());
  const excludes = new Excludes(options.exclude, source);
  const maxDelete = parseMaxDelete(options.maxDelete);
  warnOfPatterns(context, options, source, target);
  const counts = { removed: 0, restarts: 0, unread: 0, versioned: [] };
  const mirroring: Mirroring = { context, options, transfer, excludes, maxDelete, isOfAge, ...counts };
  const compare = async (): Promise<void> =>
    source.kind === 'remote' && source.bucket === ''
      ? mirrorBuckets(mirroring, source, target)
      : mirrorFolder(mirroring, source, target, 'refused');
  const metrics = await serveCounts(mirroring);
  try {
    await (isWatching ? watchAndMirror(mirroring, source, target, compare) : compare());
  } finally {
    metrics?.close();
    transfer.stop();
  }
  warnOfRest(mirroring);
  if (options.summary === true) printSummary(mirroring);
  transfer.finish({ always: true });
  if (mirroring.unread > 0)
    throw new ProgramError('Reported', `${mirroring.unread} folders or files could not be read`);
}

async function serveCounts(mirroring: Mirroring): Promise<{ readonly close: () => void } | undefined> {
  const { options, transfer } = mirroring;
  if (options.monitoringAddress === undefined) return undefined;
  // Loaded on demand: few commands serve.
  const { serveMetrics } = await import('./mirror-metrics.ts');
  return serveMetrics(options.monitoringAddress, () => {
    const { copied, transferred, failures } = transfer;
    return { copied, transferred, failed: failures.count, removed: mirroring.removed, restarts: mirroring.restarts };
  });
}

function checkOptions(options: MirrorOptions, source: Target, target: Target): void {
  const { activeActive, watch, dryRun, remove, maxDelete } = options;
  if (maxDelete !== undefined && (remove !== true || watch === true)) {
    throw new ProgramError(
      'BadArgument',
      '--max-delete limits the --remove of one comparison: it goes without --watch',
    );
  }
  if (watch === true && dryRun === true) {
    throw new ProgramError('BadArgument', '--dry-run shows one comparison: leave out --watch and --active-active');
  }
  if (activeActive === true && (source.kind === 'local' || target.kind === 'local')) {
    throw new ProgramError('BadArgument', '--active-active is between two servers, each of which mirrors to the other');
  }
}

/** Each bucket of a server becomes a bucket, or a folder of this machine. */
async function mirrorBuckets(
  mirroring: Mirroring,
  source: Extract<Target, { kind: 'remote' }>,
  target: Target,
): Promise<void> {
  const isExcluded = anyGlob(mirroring.options.excludeBucket);
  for (const { name } of await listBuckets(await mirroring.context.client(source.alias))) {
    if (isExcluded(name)) continue;
    await mirrorFolder(mirroring, { ...source, bucket: name }, bucketIn(target, name), 'made');
  }
}

/** Says what the target does not get. */
function warnOfRest({ context: { output }, transfer, versioned }: Mirroring): void {
  const buckets = [...new Set(versioned)].map((name) => `\`${printable(name)}\``).join(', ');
  if (buckets !== '')
    output.warn('versions', `Earlier versions in ${buckets} are left behind: the latest objects alone are copied`);
  transfer.warnOfRest();
}

function printSummary({ context, transfer, removed }: Mirroring): void {
  const { copied, transferred, failures } = transfer;
  const parts = [`${copied} copied`, `${removed} removed`, `${failures.count} failed`];
  context.output.message(`Summary: ${parts.join(', ')}, ${formatSize(transferred)}`, {
    copied,
    removed,
    failed: failures.count,
    transferred,
  });
}
