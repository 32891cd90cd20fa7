import { CliError } from '../cli-error.ts';
import type { Context } from '../context.ts';
import { chooseDestination } from '../copy/copy-destination.ts';
import { copyOne, type CopyOptions } from '../copy/copy-one.ts';
import { findSources, type FoundSource } from '../copy/find-sources.ts';
import { multipartSettings } from '../copy/multipart-settings.ts';
import { parseAttributes } from '../copy/object-headers.ts';
import { forEachAtOnce, Slots } from '../copy/slots.ts';
import { formatSize, printable } from '../terminal/format.ts';
import { Progress } from '../terminal/progress.ts';
import { parseTarget } from '../target.ts';

export interface CopyCommandOptions {
  readonly recursive?: boolean;
  readonly disableMultipart?: boolean;
  readonly attr?: string;
}

/** Requests with bodies at once: with parts that are streamed, 4 fill a network and hold a few MiB of memory. */
const parallel = 4;

/** Copies files and objects, as `cp` does. A source that fails is reported and the others go on. */
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
  const copyOptions: CopyOptions = {
    multipart: multipartSettings(io.env, options.disableMultipart === true),
    attributes: parseAttributes(options.attr ?? ''),
    slots: new Slots(parallel),
    parallel,
    count: (bytes) => progress.add(bytes),
  };
  const tally = { copied: 0, found: 0, failed: 0 };
  const one = async (source: FoundSource): Promise<void> => {
    tally.found += 1;
    progress.expect(source.name, source.size);
    try {
      const place = await copyOne(context, source, destination, copyOptions);
      tally.copied += 1;
      const human = progress.visible ? '' : `\`${printable(source.display)}\` -> \`${printable(place.display)}\``;
      const totals = { totalCount: tally.found, totalSize: progress.total };
      await output.line(human, { source: source.display, target: place.display, size: source.size, ...totals });
    } catch (error) {
      context.signal.throwIfAborted();
      tally.failed += 1;
      output.error(error, 'error', `Unable to copy \`${printable(source.display)}\``);
    }
  };
  try {
    await forEachAtOnce(
      all(context, sources, recursive, () => (tally.failed += 1)),
      parallel,
      one,
    );
  } finally {
    progress.stop();
  }
  if (tally.found > 0) report(context, progress);
  if (tally.failed > 0) throw new CliError('Reported', `${tally.failed} of ${tally.found} copies failed`);
}

/** The sources of all arguments; one that cannot be read is reported. */
async function* all(
  context: Context,
  sources: readonly string[],
  recursive: boolean,
  failed: () => void,
): AsyncGenerator<FoundSource, void, undefined> {
  for (const source of sources) {
    try {
      yield* findSources(context, source, recursive);
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
