import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { parseTarget, type Target } from '../../../config/target.ts';
import type { Context } from '../../context.ts';
import { asFolder, requirePlace } from '../entries/entries.ts';
import { Failures } from '../entries/entry.ts';
import { statOf } from '../entries/local-entries.ts';
import { placeKind } from '../entries/remote-entries.ts';
import { differences, printDifference } from './differences.ts';

/** Compares the names and sizes of what is below two places. It does not read contents. */
export async function diff(context: Context, [one = '', other = '']: readonly string[]): Promise<void> {
  const aliases = await context.aliases();
  const [first, second] = [parseTarget(one, aliases), parseTarget(other, aliases)];
  const failures = new Failures(context);
  await requireFolder(context, first);
  // Below a prefix that no object has yet, everything is missing.
  if (second.kind === 'local') await requirePlace(context, second);
  const places = [asFolder(first), asFolder(second)] as const;
  for await (const difference of differences(context, ...places, failures)) {
    await printDifference(context, ...places, difference);
  }
  failures.throwIfAny();
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
