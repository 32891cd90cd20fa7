import { CliError } from '../../../config/cli-error.ts';
import type { Target } from '../../../config/target.ts';
import type { Context } from '../../context.ts';
import type { Walked } from './entry.ts';
import { localEntryPages } from './local-entries.ts';
import { remoteEntryPages, type Listing } from './remote-entries.ts';
import { parseRewind } from './times.ts';

/** The flags that choose versions. */
export interface VersionOptions {
  readonly versions?: boolean;
  readonly rewind?: string;
  readonly versionId?: string;
}

/**
 * Lists a place of a server or of this machine. Both have the same order, so that two listings can be compared as streams. A page is what one
 * request or one batch of files brings: a stream of single entries would take more time than the rest of a listing.
 */
export async function* entryPages(
  context: Context,
  target: Target,
  listing: Listing,
): AsyncGenerator<readonly Walked[], void, undefined> {
  if (target.kind === 'remote') {
    yield* remoteEntryPages(await context.client(target.alias), target, listing);
    return;
  }
  if (listing.versions === true || listing.rewind !== undefined || listing.incomplete === true) {
    throw new CliError(
      'BadArgument',
      `\`${target.path}\` is a path of this machine: files have no versions or uploads`,
    );
  }
  yield* localEntryPages(target.path, listing.recursive);
}

/** Parses `--rewind`. */
export function rewindOf({ rewind }: VersionOptions): Date | undefined {
  return rewind === undefined ? undefined : parseRewind(rewind, new Date());
}

/** @throws CliError BadArgument for flags that exclude each other */
export function checkVersionOptions({ versions, rewind, versionId }: VersionOptions, recursive: boolean): void {
  if (versionId === undefined) return;
  if (versions === true || rewind !== undefined || recursive) {
    throw new CliError('BadArgument', '--version-id names one version: leave out --versions, --rewind and --recursive');
  }
}

/** The same place as a folder: `ALIAS/bucket/dir` means what is below `dir/`. */
export function asFolder(target: Target): Target {
  if (target.kind === 'local' || target.key === '' || target.key.endsWith('/')) return target;
  return { ...target, key: `${target.key}/` };
}
