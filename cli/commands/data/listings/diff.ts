import { resolve } from 'node:path';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { parseTarget, type Target } from '../../../config/target.ts';
import { printable } from '../../../../platform/text/printable.ts';
import type { Context } from '../../context.ts';
import { asFolder, entryPages, requirePlace } from '../entries/entries.ts';
import { Failures, readablePages, type Entry } from '../entries/entry.ts';
import { joinEntries, type Pair } from '../entries/join-entries.ts';
import { statOf } from '../entries/local-entries.ts';
import { placeKind } from '../entries/remote-entries.ts';

/** The numbers are those that other clients write: 2 another size, 4 another kind, 5 only in the first place, 6 only in the second. */
const differences = { size: 2, first: 5, second: 6 } as const;

/** Compares the names and sizes of what is below two places. It does not read contents. */
export async function diff(context: Context, [one = '', other = '']: readonly string[]): Promise<void> {
  const aliases = await context.aliases();
  const [first, second] = [parseTarget(one, aliases), parseTarget(other, aliases)];
  const failures = new Failures(context);
  await requireFolder(context, first);
  // Below a prefix that no object has yet, everything is missing.
  if (second.kind === 'local') await requirePlace(context, second);
  const [ones, others] = [below(context, first, failures), below(context, second, failures)];
  for await (const pair of joinEntries(ones, others)) {
    const difference = differenceOf(pair);
    if (difference === undefined) continue;
    const sign = { size: '!', first: '<', second: '>' }[difference];
    const shown = difference === 'first' ? pair.first : pair.second;
    await context.output.line(`${sign} ${printable(shown?.display ?? '')}`, {
      first: pair.first === undefined ? '' : addressOf(first, pair.first),
      second: pair.second === undefined ? '' : addressOf(second, pair.second),
      diff: differences[difference],
    });
  }
  failures.throwIfAny();
}

function differenceOf({ first, second }: Pair): keyof typeof differences | undefined {
  if (second === undefined) return 'first';
  if (first === undefined) return 'second';
  return first.size === second.size ? undefined : 'size';
}

/** @throws ProgramError BadArgument for a file or object, since nothing would be compared */
async function requireFolder(context: Context, target: Target): Promise<void> {
  await requirePlace(context, target);
  const isFolder =
    target.kind === 'local'
      ? (await statOf(target.path)).isDirectory()
      : target.key === '' ||
        (await placeKind(await context.client(target.alias), target, { recursive: false })) !== 'object';
  if (isFolder) return;
  const text = target.kind === 'local' ? target.path : target.text;
  throw new ProgramError('BadArgument', `\`${text}\` is no folder: \`diff\` compares what is in folders`);
}

function below(context: Context, target: Target, failures: Failures): AsyncIterable<readonly Entry[]> {
  return readablePages(context, entryPages(context, asFolder(target), { recursive: true }), failures);
}

function addressOf(target: Target, { bucket, key }: Entry): string {
  return target.kind === 'local' ? resolve(key) : `${target.alias.url}/${bucket}/${key}`;
}
