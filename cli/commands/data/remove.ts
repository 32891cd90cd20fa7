import { lstat, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Stats } from 'node:fs';
import { createInterface } from 'node:readline';
import { requireRemovable } from './removable-folder.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';
import type { S3Client } from '../../s3/client.ts';
import { deleteObject, headObject } from '../../s3/objects.ts';
import { abortUpload } from '../../s3/multipart-upload.ts';
import { isNotFound } from '../../s3/error-of-status.ts';
import { printable } from '../../../platform/text/printable.ts';
import { displayName, parseObject, parseTarget, type RemoteTarget } from '../../config/target.ts';
import { checkVersionOptions, rewindOf, type VersionOptions } from './entries/entries.ts';
import { Failures, readable, type Entry } from './entries/entry.ts';
import { localEntryPages, statOf } from './entries/local-entries.ts';
import { placeKind, remoteEntries } from './entries/remote-entries.ts';
import { ageTest, type AgeOptions } from './entries/times.ts';
import { deleteInBatches } from './remove-batches.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface RemoveOptions extends VersionOptions, AgeOptions {
  readonly recursive?: boolean;
  readonly force?: boolean;
  readonly dangerous?: boolean;
  readonly incomplete?: boolean;
  readonly nonCurrent?: boolean;
  readonly bypass?: boolean;
  readonly dryRun?: boolean;
  readonly stdin?: boolean;
  readonly purge?: boolean;
}

export async function remove(context: Context, args: readonly string[], options: RemoveOptions): Promise<void> {
  checkOptions(args, options);
  const failures = new Failures(context);
  for await (const argument of argumentsOf(context, args, options)) {
    try {
      await removeOne(context, argument, options, failures);
    } catch (error) {
      failures.report(error, `Unable to remove \`${printable(argument)}\``);
    }
  }
  failures.throwIfAny();
}

function checkOptions(args: readonly string[], options: RemoveOptions): void {
  checkVersionOptions(options, options.recursive === true);
  if (args.length === 0 && options.stdin !== true)
    throw new ProgramError('BadArgument', 'Name what to remove, or use --stdin');
  if (options.recursive === true && options.force !== true) {
    throw new ProgramError('BadArgument', 'Removing recursively needs --force as well, since it cannot be undone');
  }
  if (options.versions === true && options.force !== true) {
    throw new ProgramError('BadArgument', '--versions needs --force as well, since no version is left to go back to');
  }
  if (options.purge === true) checkPurge(options);
  if (options.stdin === true && options.force !== true)
    throw new ProgramError('BadArgument', '--stdin needs --force as well');
  if (options.nonCurrent === true && (options.versions !== true || options.recursive !== true)) {
    throw new ProgramError('BadArgument', '--non-current needs --versions and --recursive as well');
  }
}

/** The flags that a purge takes. */
const purgeOptions = new Set(['purge', 'force', 'dryRun']);

/** A purge removes all versions below a prefix, so that nothing else can be chosen. */
function checkPurge(options: RemoveOptions): void {
  if (options.force !== true) {
    throw new ProgramError('BadArgument', '--purge needs --force as well, since it removes all versions');
  }
  if (Object.entries(options).some(([name, value]) => value !== undefined && !purgeOptions.has(name))) {
    throw new ProgramError('BadArgument', '--purge removes everything below a prefix: leave out the other flags');
  }
}

/** The arguments, then with `--stdin` the lines of standard input. */
async function* argumentsOf(
  { io, signal }: Context,
  args: readonly string[],
  options: RemoveOptions,
): AsyncGenerator<string> {
  yield* args;
  if (options.stdin !== true) return;
  // The line that an interruption cuts off may be a part of a name.
  for await (const line of createInterface({ input: io.stdin, terminal: false, signal })) {
    signal.throwIfAborted();
    if (line !== '') yield line;
  }
  signal.throwIfAborted();
}

async function removeOne(
  context: Context,
  argument: string,
  options: RemoveOptions,
  failures: Failures,
): Promise<void> {
  const aliases = await context.aliases();
  const target = parseTarget(argument, aliases);
  if (target.kind === 'local') {
    await removeLocal(context, target.path, options, failures);
    return;
  }
  if (options.purge === true) {
    await purge(context, await context.client(target.alias), parseObject(argument, aliases), options);
    return;
  }
  const several = options.recursive === true || options.versions === true || options.rewind !== undefined;
  if (!several && options.incomplete !== true) {
    await removeObject(context, await context.client(target.alias), parseObject(argument, aliases), options);
    return;
  }
  if (target.bucket === '' && options.dangerous !== true) {
    throw new ProgramError(
      'BadArgument',
      `\`${argument}\` is a whole server: to remove all its objects use --dangerous as well`,
    );
  }
  if (target.key === '' && options.recursive !== true)
    throw new ProgramError('BadArgument', `\`${argument}\` needs --recursive`);
  const client = await context.client(target.alias);
  if (options.recursive === true) await warnOfPrefix(context, client, target, options);
  await removeSeveral(context, client, target, options, failures);
}

/** Says that a key is taken as the beginning of names, which may be more than the caller thinks of. */
async function warnOfPrefix(
  context: Context,
  client: S3Client,
  target: RemoteTarget,
  { versions, incomplete }: RemoveOptions,
): Promise<void> {
  const { key, text } = target;
  if (key === '' || key.endsWith('/')) return;
  if ((await placeKind(client, target, { recursive: false, versions, incomplete })) === 'none')
    context.output.warn(
      'prefix',
      `\`${printable(text)}\` is no object or folder: it means all keys that begin with it`,
    );
}

async function removeObject(
  context: Context,
  client: S3Client,
  target: RemoteTarget,
  options: RemoveOptions,
): Promise<void> {
  const ref = { bucket: target.bucket, key: target.key, versionId: options.versionId };
  // S3 gives the same answer for an object that is not there.
  const modified = ref.versionId === undefined ? await modifiedOf(client, target) : 'unknown';
  if (modified === undefined) {
    if ((await placeKind(client, target, { recursive: false })) === 'folder')
      throw new ProgramError('BadArgument', `\`${target.text}\` is a folder: it needs --recursive and --force`);
    throw new ProgramError('NotFound', `Object \`${target.text}\` does not exist`);
  }
  if (modified !== 'unknown' && !ageTest(options, new Date())(modified)) return;
  const display = displayName(target, target.key);
  if (options.dryRun === true) {
    await print(context, { key: display, versionId: ref.versionId ?? '', dryRun: true });
    return;
  }
  const deletion = await deleteObject(client, ref, options);
  await print(context, { key: display, ...deletion, versionId: ref.versionId ?? deletion.versionId });
}

/** Removes everything below a prefix by one request. The server does not say what it removed. */
async function purge(
  context: Context,
  client: S3Client,
  target: RemoteTarget,
  { dryRun }: RemoveOptions,
): Promise<void> {
  if (dryRun !== true) await deleteObject(client, { bucket: target.bucket, key: target.key }, { purge: true });
  await print(context, { key: displayName(target, target.key), dryRun: dryRun === true });
}

/** Returns when the object was changed; undefined for none, `unknown` where the caller lacks the permission to know. */
async function modifiedOf(client: S3Client, { bucket, key }: RemoteTarget): Promise<Date | 'unknown' | undefined> {
  try {
    return (await headObject(client, { bucket, key })).lastModified;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    if (error instanceof ResponseError && error.status === 403) return 'unknown';
    throw error;
  }
}

async function removeSeveral(
  context: Context,
  client: S3Client,
  target: RemoteTarget,
  options: RemoveOptions,
  failures: Failures,
): Promise<void> {
  const found = chosen(client, target, options);
  if (options.dryRun === true) {
    for await (const { display, version } of found) {
      const deleteMarker = version?.deleteMarker === true;
      await print(context, { key: display, versionId: version?.id ?? '', deleteMarker, dryRun: true });
    }
  } else if (options.incomplete === true) {
    for await (const { bucket, key, display, uploadId = '' } of found) {
      await abortUpload(client, { bucket, key, uploadId });
      await print(context, { key: display });
    }
  } else {
    for await (const removal of deleteInBatches(client, found, options)) {
      const { display, version } = removal.entry;
      if ('failure' in removal) {
        const { message, code } = removal.failure;
        const ofVersion = version === undefined ? '' : ` (${version.id})`;
        const cause = `${message} (${code})`;
        const doing = `Unable to remove \`${printable(display)}\`${ofVersion}`;
        failures.report(new ProgramError('Failed', doing, { cause }), doing);
      } else {
        const { deleteMarker, versionId } = removal.deleted;
        const shown = versionId ?? deleteMarker?.versionId ?? '';
        await print(context, { key: display, versionId: shown, deleteMarker: deleteMarker !== undefined });
      }
    }
  }
}

/** Yields what the flags choose below a target. */
async function* chosen(client: S3Client, target: RemoteTarget, options: RemoveOptions): AsyncGenerator<Entry> {
  const { versions, incomplete, nonCurrent = false } = options;
  const isOfAge = ageTest(options, new Date());
  const listing = { recursive: true, versions, incomplete, rewind: rewindOf(options) };
  for await (const entry of remoteEntries(client, target, listing)) {
    if (options.recursive !== true && entry.key !== target.key) return;
    // A delete marker that is the latest version hides an object that is only noncurrent.
    if (nonCurrent && entry.version?.latest === true && !entry.version.deleteMarker) continue;
    if (isOfAge(entry.modified)) yield entry;
  }
}

async function removeLocal(context: Context, path: string, options: RemoveOptions, failures: Failures): Promise<void> {
  const ofVersions = options.versions === true || options.versionId !== undefined || options.rewind !== undefined;
  if (ofVersions || options.incomplete === true || options.bypass === true) {
    throw new ProgramError('BadArgument', `\`${path}\` is a path of this machine: files have no versions or uploads`);
  }
  if (/^\.{1,2}$/.test(basename(path)))
    throw new ProgramError(
      'Unsafe',
      `\`${path}\` is the folder that the command is in or one above it: name it otherwise`,
    );
  const link = await linkAt(path);
  if (link !== undefined) {
    await removeLink(context, path, link, options);
    return;
  }
  await requireRemovable(path);
  const isFolder = (await statOf(path)).isDirectory();
  if (isFolder && options.recursive !== true)
    throw new ProgramError('BadArgument', `\`${path}\` is a folder: it needs --recursive`);
  const isOfAge = ageTest(options, new Date());
  const before = failures.count;
  for await (const { key, modified } of readable(context, localEntryPages(path, true), failures)) {
    if (!isOfAge(modified)) continue;
    if (options.dryRun !== true) await rm(key);
    await print(context, { key, dryRun: options.dryRun === true });
  }
  const all = options.olderThan === undefined && options.newerThan === undefined && failures.count === before;
  if (isFolder && all && options.dryRun !== true) await rm(path, { recursive: true });
}

/** Returns the attributes of a symbolic link itself, whatever it leads to; undefined for anything else. */
async function linkAt(path: string): Promise<Stats | undefined> {
  // With a slash at the end the system follows the link.
  const found = await lstat(path.replace(/(?<=.)\/+$/, '')).catch(() => undefined);
  return found?.isSymbolicLink() === true ? found : undefined;
}

/** Removes the link alone, as POSIX demands. */
async function removeLink(context: Context, path: string, link: Stats, options: RemoveOptions): Promise<void> {
  if (path.endsWith('/'))
    throw new ProgramError('Unsafe', `\`${path}\` is a link to a folder: without the slash the link alone is removed`);
  if (!ageTest(options, new Date())(link.mtime)) return;
  if (options.dryRun !== true) await rm(path);
  await print(context, { key: path, dryRun: options.dryRun === true });
}

interface Removed {
  readonly key: string;
  readonly versionId?: string;
  readonly deleteMarker?: boolean;
  readonly dryRun?: boolean;
}

async function print({ output }: Context, removed: Removed): Promise<void> {
  const { key, versionId = '', deleteMarker = false, dryRun = false } = removed;
  const version = versionId === '' ? '' : ` (versionId=${versionId})`;
  const human = `${dryRun ? 'Would remove' : 'Removed'} \`${printable(key)}\`${version}.`;
  await output.line(human, { key, deleteMarker, versionID: versionId, modTime: null, dryRun });
}
