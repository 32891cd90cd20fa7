import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { Target } from '../../../config/target.ts';
import type { Context } from '../../context.ts';
import type { Walked } from './entry.ts';
import { localEntryPages, statOf } from './local-entries.ts';
import { placeKind, remoteEntryPages, type Listing } from './remote-entries.ts';
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
    throw new ProgramError(
      'BadArgument',
      `\`${target.path}\` is a path of this machine: files have no versions or uploads`,
    );
  }
  yield* localEntryPages(target.path, listing.recursive);
}

/**
 * Checks that there is something at a place: a file or folder, an object, or objects below the key. A listing reports a bucket that does not
 * exist. For a command that compares, an empty place would mean that everything was removed.
 *
 * @throws ProgramError NotFound
 */
export async function requirePlace(
  context: Context,
  target: Target,
  listing: Omit<Listing, 'recursive'> = {},
): Promise<void> {
  if (target.kind === 'local') {
    await statOf(target.path);
    return;
  }
  if (target.key === '') return;
  const client = await context.client(target.alias);
  if ((await placeKind(client, target, { ...listing, recursive: false })) !== 'none') return;
  throw new ProgramError('NotFound', `\`${target.text}\` does not exist`);
}

/** Parses `--rewind`. */
export function rewindOf({ rewind }: VersionOptions): Date | undefined {
  return rewind === undefined ? undefined : parseRewind(rewind, new Date());
}

/** @throws ProgramError BadArgument for flags that exclude each other */
export function checkVersionOptions({ versions, rewind, versionId }: VersionOptions, recursive: boolean): void {
  if (versionId === undefined) return;
  if (versions === true || rewind !== undefined || recursive) {
    throw new ProgramError(
      'BadArgument',
      '--version-id names one version: leave out --versions, --rewind and --recursive',
    );
  }
}

/** The same place as a folder: `ALIAS/bucket/dir` means what is below `dir/`. */
export function asFolder(target: Target): Target {
  if (target.kind === 'local' || target.key === '' || target.key.endsWith('/')) return target;
  return { ...target, key: `${target.key}/` };
}
