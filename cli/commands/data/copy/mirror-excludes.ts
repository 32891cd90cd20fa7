import { resolve } from 'node:path';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { Target } from '../../../config/target.ts';
import { printable } from '../../../../platform/text/printable.ts';
import type { Context } from '../../context.ts';
import { anyGlob } from '../entries/name-patterns.ts';

/** The patterns of `mirror` for names below the source and the target. */
export class Excludes {
  readonly #isExcluded: (name: string) => boolean;
  readonly #coversFolder: (name: string) => boolean;

  /** A pattern that begins with the path of a local source means the names below it. */
  constructor(patterns: readonly string[] = [], source?: Target) {
    const folder = source?.kind === 'local' ? `${resolve(source.path)}/` : undefined;
    const relative = patterns.map((one) =>
      folder !== undefined && one.startsWith(folder) ? one.slice(folder.length) : one,
    );
    this.#isExcluded = anyGlob(relative);
    // Such a pattern matches everything below a folder whose name with a slash it matches.
    this.#coversFolder = anyGlob(relative.filter((one) => one.endsWith('*')));
  }

  /** Reports whether a file, or with a slash at the end of its name all that is in a folder, is excluded. */
  has(name: string): boolean {
    return name.endsWith('/') ? this.#coversFolder(name) : this.#isExcluded(name);
  }
}

/** Warns of patterns that no name below the source or the target can match. */
export function warnOfPatterns(
  { output }: Context,
  {
    exclude = [],
    excludeBucket = [],
  }: { readonly exclude?: readonly string[]; readonly excludeBucket?: readonly string[] },
  source: Target,
  target: Target,
): void {
  const folder = source.kind === 'local' ? `${resolve(source.path)}/` : undefined;
  const isBetweenServers = source.kind === 'remote' && target.kind === 'remote';
  for (const pattern of exclude) {
    if (folder !== undefined && pattern.startsWith(folder)) continue;
    const shown = `\`${printable(pattern)}\``;
    if (pattern.endsWith('/')) {
      output.warn(
        'left-out',
        `--exclude ${shown} matches nothing, since names of files do not end with a slash: \`${printable(pattern)}*\` excludes what is in a folder`,
      );
    } else if (!isBetweenServers && /^(\/|\.\.?\/)/.test(pattern)) {
      output.warn(
        'left-out',
        `--exclude ${shown} matches nothing, since names begin below the source, without \`/\` or \`./\``,
      );
    }
  }
  for (const pattern of excludeBucket) {
    if (pattern.includes('/'))
      output.warn(
        'left-out',
        `--exclude-bucket \`${printable(pattern)}\` matches nothing, since names of buckets have no slash`,
      );
  }
}

/** Parses `--max-delete`. @throws ProgramError BadArgument */
export function parseMaxDelete(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ProgramError('BadArgument', `Invalid --max-delete \`${text}\`: it is a whole number`);
}
