import { counted } from '../../../../platform/text/message-text.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { Failures } from '../entries/entry.ts';
import { isTemporaryName } from '../entries/temporary-files.ts';
import { differences, printDifference } from '../listings/differences.ts';
import { isExcludedBy, type Mirroring } from './mirror-folder.ts';

/**
 * Compares the names and sizes of what was mirrored, and prints each difference as `diff` does. What the flags leave out is not compared, and
 * what the target alone has only counts with `--remove`. Returns whether source and target are the same.
 */
export async function verifyMirror(mirroring: Mirroring): Promise<boolean> {
  const { context, excludes, isOfAge, options } = mirroring;
  const unread = new Failures(context);
  const isExcluded = (name: string): boolean =>
    excludes.has(name) || isTemporaryName(name.slice(name.lastIndexOf('/') + 1));
  let count = 0;
  for (const { source, target } of mirroring.places) {
    for await (const difference of differences(context, source, target, unread, isExcluded)) {
      const { kind, pair } = difference;
      if (kind === 'second' && options.remove !== true) continue;
      if (pair.first !== undefined && !isOfAge(pair.first.modified)) continue;
      const entry = pair.first ?? pair.second;
      if (entry !== undefined && isExcludedBy(mirroring, pair.name, entry)) continue;
      count += 1;
      await printDifference(context, source, target, difference);
    }
  }
  if (count > 0) {
    const text = `Source and target differ in ${counted(count, 'name')}: \`<\` is missing in the target, \`!\` has another size there, \`>\` is there alone`;
    context.output.error(new ProgramError('Failed', text), 'error');
  }
  return count === 0 && unread.count === 0;
}
