import { CliError } from '../../../config/cli-error.ts';
import type { Context } from '../../context.ts';
import { chooseDestination } from './copy-destination.ts';
import { copyOne, type CopyOptions } from './copy-one.ts';
import { findSources, type SourceOptions, type WalkedSource } from './find-sources.ts';
import { multipartSettings } from './upload.ts';
import { parseAttributes } from './object-headers.ts';
import { formatSize, printable } from '../../../terminal/format.ts';
import { Progress } from '../../../terminal/progress.ts';
import { parseTarget } from '../../../config/target.ts';
import { forEachLimit, semaphore } from '../../../../platform/concurrency.ts';

interface CopyCommandOptions extends SourceOptions {
  readonly disableMultipart?: boolean;
  readonly attr?: string;
}

/** Concurrent requests with a body. Four streamed parts fill a network and need a few MiB of memory. */
const parallel = 4;

/** The command `cp`. It reports a source that fails and continues with the others. */
export async function copy(
  context: Context,
  arguments_: readonly string[],
  options: CopyCommandOptions,
): Promise<void> {
  const { output, io } = context;
  const sources = arguments_.slice(0, -1);
  const last = arguments_.at(-1);
  if (last === undefined || sources.length === 0)
    throw new CliError('BadArgument', 'Name at least one source and a target');
  const recursive = options.recursive === true;
  const target = parseTarget(last, await context.aliases());
  const destination = await chooseDestination(target, recursive || sources.length > 1);
  const progress = new Progress(io, output, io.stdout.isTTY === true && !context.quiet && !output.json);
  const copyOptions: Omit<CopyOptions, 'count'> = {
    multipart: multipartSettings(io.env, options.disableMultipart === true),
    attributes: parseAttributes(options.attr ?? ''),
    semaphore: semaphore(parallel),
    parallel,
  };
  const tally = { copied: 0, found: 0, failed: 0 };
  const one = async (source: WalkedSource): Promise<void> => {
    if (source.kind === 'skipped') {
      output.warn(`\`${printable(source.display)}\` is left out: ${source.reason}`);
      return;
    }
    tally.found += 1;
    if (source.kind === 'unreadable') {
      tally.failed += 1;
      output.error(source.error, 'error', `Unable to read \`${printable(source.display)}\``);
      return;
    }
    progress.expect(source.name, source.size);
    let counted = 0;
    const count = (bytes: number): void => {
      counted += bytes;
      progress.add(bytes);
      // The size of a stream is not known before its end.
      if (source.kind === 'stream') progress.expect(source.name, bytes);
    };
    try {
      const location = await copyOne(context, source, destination, { ...copyOptions, count });
      tally.copied += 1;
      const human = progress.visible ? '' : `\`${printable(source.display)}\` -> \`${printable(location.display)}\``;
      const totals = { totalCount: tally.found, totalSize: progress.total };
      await output.line(human, {
        source: source.display,
        target: location.display,
        size: source.kind === 'stream' ? counted : source.size,
        ...totals,
      });
    } catch (error) {
      // The bytes of a failed copy do not count.
      progress.add(-counted);
      context.signal.throwIfAborted();
      tally.failed += 1;
      output.error(error, 'error', `Unable to copy \`${printable(source.display)}\``);
    }
  };
  try {
    await forEachLimit(
      all(context, sources, options, () => {
        tally.found += 1;
        tally.failed += 1;
      }),
      parallel,
      one,
    );
  } finally {
    progress.stop();
  }
  if (progress.total > 0 || tally.copied > 0) report(context, progress);
  if (tally.failed > 0) throw new CliError('Reported', `${tally.failed} of ${tally.found} copies failed`);
}

/** Yields the sources of all arguments, and reports those that it cannot read. */
async function* all(
  context: Context,
  sources: readonly string[],
  options: SourceOptions,
  failed: () => void,
): AsyncGenerator<WalkedSource, void, undefined> {
  for (const source of sources) {
    try {
      yield* findSources(context, source, options);
    } catch (error) {
      context.signal.throwIfAborted();
      failed();
      context.output.error(error, 'error', `Unable to read \`${printable(source)}\``);
    }
  }
}

function report({ output }: Context, progress: Progress): void {
  const { done, total, seconds } = progress;
  const speed = seconds > 0 ? done / seconds : 0;
  const human = progress.visible
    ? ''
    : `Total: ${formatSize(total)}, Transferred: ${formatSize(done)}, Speed: ${formatSize(Math.round(speed))}/s`;
  output.message(human, { total, transferred: done, duration: Math.round(seconds * 1e9), speed });
}
