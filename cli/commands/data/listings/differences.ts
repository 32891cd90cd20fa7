import { resolve } from 'node:path';
import type { Target } from '../../../config/target.ts';
import { printable } from '../../../../platform/text/printable.ts';
import type { Context } from '../../context.ts';
import { entryPages } from '../entries/entries.ts';
import { hasFolder } from '../entries/entry-at.ts';
import { isFolderName, readablePages, type Entry, type Failures } from '../entries/entry.ts';
import { joinEntries, type Pair } from '../entries/join-entries.ts';

/** The numbers are those that other clients write: 2 another size, 4 another kind, 5 only in the first place, 6 only in the second. */
const numbers = { size: 2, first: 5, second: 6 } as const;

interface Difference {
  readonly kind: keyof typeof numbers;
  readonly pair: Pair;
}

/** Yields the names that two places do not both have, or with another size. `isExcluded` tells the names that are not compared. */
export async function* differences(
  context: Context,
  first: Target,
  second: Target,
  failures: Failures,
  isExcluded: (name: string) => boolean = () => false,
): AsyncGenerator<Difference, void, undefined> {
  const below = (place: Target): AsyncIterable<readonly Entry[]> =>
    readablePages(context, entryPages(context, place, { recursive: true }), failures, { isExcluded });
  for await (const pair of joinEntries(below(first), below(second))) {
    const kind = kindOf(pair);
    if (kind === undefined) continue;
    if (kind === 'first' && (await isShown(second, pair.first))) continue;
    if (kind === 'second' && (await isShown(first, pair.second))) continue;
    yield { kind, pair };
  }
}

function kindOf({ first, second }: Pair): Difference['kind'] | undefined {
  if (second === undefined) return 'first';
  if (first === undefined) return 'second';
  return first.size === second.size ? undefined : 'size';
}

/** Reports whether a place has the folder that an object of another place shows. */
async function isShown(place: Target, entry: Entry | undefined): Promise<boolean> {
  return entry !== undefined && isFolderName(entry.name) && entry.size === 0 && (await hasFolder(place, entry.name));
}

/** Prints a difference as `diff` does. */
export async function printDifference(
  { output }: Context,
  first: Target,
  second: Target,
  { kind, pair }: Difference,
): Promise<void> {
  const sign = { size: '!', first: '<', second: '>' }[kind];
  const shown = kind === 'first' ? pair.first : pair.second;
  await output.line(`${sign} ${printable(shown?.display ?? '')}`, {
    first: pair.first === undefined ? '' : addressOf(first, pair.first),
    second: pair.second === undefined ? '' : addressOf(second, pair.second),
    diff: numbers[kind],
  });
}

function addressOf(target: Target, { bucket, key }: Entry): string {
  return target.kind === 'local' ? resolve(key) : `${target.alias.url}/${bucket}/${key}`;
}
