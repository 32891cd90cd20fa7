import { counted } from '../../../../platform/text/message-text.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { parseTarget, type Target } from '../../../config/target.ts';
import { formatSize } from '../../../terminal/format.ts';
import { printable } from '../../../../platform/text/printable.ts';
import type { Context } from '../../context.ts';
import { entryPages, requirePlace, rewindOf, type VersionOptions } from '../entries/entries.ts';
import { Failures, readable } from '../entries/entry.ts';

interface UsageOptions extends VersionOptions {
  readonly depth?: string;
  readonly recursive?: boolean;
}

/** The sum of a folder that is being read. */
interface Sum {
  readonly name: string;
  size: number;
  objects: number;
}

/** Adds up sizes. A folder is printed when it has been read, after those within it. Memory holds the folders that lead to the current one. */
export async function diskUsage(
  context: Context,
  [argument = '']: readonly string[],
  options: UsageOptions,
): Promise<void> {
  const target = parseTarget(argument, await context.aliases());
  const depth = depthOf(options);
  const { versions = false } = options;
  const failures = new Failures(context);
  const open: Sum[] = [{ name: nameOf(target), size: 0, objects: 0 }];
  const close = async (): Promise<void> => {
    const sum = open.pop();
    if (sum === undefined) return;
    const outer = open.at(-1);
    if (outer !== undefined) {
      outer.size += sum.size;
      outer.objects += sum.objects;
    }
    if (open.length >= depth) return;
    const { name: prefix, size, objects } = sum;
    const human = `${formatSize(size)}\t${counted(objects, versions ? 'version' : 'object')}\t${printable(prefix)}`;
    await context.output.line(human, { prefix, size, objects, isVersions: versions });
  };
  const listing = { recursive: true, versions, rewind: rewindOf(options) };
  // As in other clients, `dir/` may be empty.
  if (!argument.endsWith('/')) await requirePlace(context, target, listing);
  for await (const entry of readable(context, entryPages(context, target, listing), failures)) {
    if (entry.version?.deleteMarker === true) continue;
    const folders = entry.name.split('/').slice(0, -1);
    while (open.length - 1 > common(open, folders)) await close();
    for (const folder of folders.slice(open.length - 1)) {
      const outer = open.at(-1)?.name ?? '';
      open.push({ name: outer === '' ? folder : `${outer}/${folder}`, size: 0, objects: 0 });
    }
    const innermost = open.at(-1);
    if (innermost === undefined) continue;
    innermost.size += entry.size;
    innermost.objects += 1;
  }
  while (open.length > 0) await close();
  failures.throwIfAny();
}

/** Counts the open folders, without the outermost, that the next entry is in too. */
function common(open: readonly Sum[], folders: readonly string[]): number {
  let count = 0;
  while (count < folders.length && count + 1 < open.length) {
    const name = open[count + 1]?.name ?? '';
    if (name.slice(name.lastIndexOf('/') + 1) !== folders[count]) break;
    count += 1;
  }
  return count;
}

function depthOf({ depth, recursive }: UsageOptions): number {
  if (depth === undefined) return recursive === true ? Infinity : 1;
  const value = Number(depth);
  if (Number.isInteger(value) && value >= 0) return value === 0 ? Infinity : value;
  throw new ProgramError('BadArgument', `Invalid --depth \`${depth}\`: it is a whole number`);
}

function nameOf(target: Target): string {
  if (target.kind === 'local') return target.path.replace(/(?<=.)\/+$/, '');
  return `${target.bucket}/${target.key}`.replace(/\/+$/, '');
}
