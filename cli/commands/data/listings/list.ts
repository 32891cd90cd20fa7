import { resolve } from 'node:path';
import type { Context } from '../../context.ts';
import type { Paint } from '../../../terminal/colors.ts';
import { formatSize, formatTime } from '../../../terminal/format.ts';
import { printable } from '../../../../platform/text/printable.ts';
import { parseTarget, type Target } from '../../../config/target.ts';
import { asArchiveFolder, readArchives, type ZipOptions } from '../entries/archives.ts';
import { entryPages, rewindOf, type VersionOptions } from '../entries/entries.ts';
import { Failures, readablePages, type Entry } from '../entries/entry.ts';

interface ListOptions extends VersionOptions, ZipOptions {
  readonly recursive?: boolean;
  readonly incomplete?: boolean;
  readonly summarize?: boolean;
  readonly storageClass?: string;
}

export async function list(context: Context, [argument = '']: readonly string[], options: ListOptions): Promise<void> {
  const target = targetOf(context, parseTarget(argument, await context.aliases()), options);
  const { recursive = false, versions, incomplete } = options;
  const rewind = rewindOf(options);
  const failures = new Failures(context);
  let totalObjects = 0;
  let totalSize = 0;
  // The number of a version counts those before it, which a listing of one moment leaves out.
  const isMoment = rewind !== undefined && versions !== true;
  const pages = entryPages(context, target, { recursive, versions: versions === true || isMoment, incomplete, rewind });
  const all = numbered(readablePages(context, pages, failures));
  for await (const page of isMoment ? latest(all) : all) {
    for (const { entry, ordinal } of page) {
      const isOther = entry.kind === 'file' && entry.storageClass !== options.storageClass;
      // As in other clients, an empty class is none.
      if (options.storageClass !== undefined && options.storageClass !== '' && isOther) continue;
      context.output.add(
        () => textOf(entry, ordinal, context.output.paint),
        () => fieldsOf(entry, ordinal, urlFor(target, entry)),
      );
      totalObjects += 1;
      totalSize += entry.size;
    }
    await context.output.drained();
  }
  if (options.summarize === true) {
    context.output.message(`\nTotal Size: ${formatSize(totalSize)}\nTotal Objects: ${totalObjects}`, {
      totalObjects,
      totalSize,
    });
  }
  failures.throwIfAny();
}

function targetOf(context: Context, target: Target, options: ZipOptions): Target {
  const listed = readArchives(context, target, options);
  return options.zip === true && listed.kind === 'remote' ? asArchiveFolder(listed) : listed;
}

/** The versions of one key that are held to count them. A key with more of them has no ordinals. */
const maxCounted = 10_000;

interface Numbered {
  readonly entry: Entry;
  readonly ordinal: number | undefined;
}

/** Counts the versions of each key from the oldest one, which comes last. */
async function* numbered(pages: AsyncIterable<readonly Entry[]>): AsyncGenerator<readonly Numbered[]> {
  let held: Entry[] = [];
  let found: Numbered[] = [];
  const flush = (): void => {
    for (const [index, entry] of held.entries()) found.push({ entry, ordinal: held.length - index });
    held = [];
  };
  for await (const page of pages) {
    found = [];
    for (const entry of page) {
      if (held.length > 0 && (entry.version === undefined || held[0]?.key !== entry.key)) flush();
      if (entry.version === undefined) found.push({ entry, ordinal: 1 });
      else if (held.length < maxCounted) held.push(entry);
      else found.push({ entry, ordinal: undefined });
    }
    yield found;
  }
  found = [];
  flush();
  yield found;
}

/** Yields the newest version of each key, unless it is a delete marker. */
async function* latest(pages: AsyncIterable<readonly Numbered[]>): AsyncGenerator<readonly Numbered[]> {
  let last: string | undefined;
  for await (const page of pages) {
    yield page.filter(({ entry: { bucket, key, version } }) => {
      if (version === undefined) return true;
      const isFirst = `${bucket}/${key}` !== last;
      last = `${bucket}/${key}`;
      return isFirst && !version.deleteMarker;
    });
  }
}

function textOf(entry: Entry, ordinal: number | undefined, paint: Paint): string {
  const { kind, name, size, modified, storageClass, version } = entry;
  const words = [paint('time', `[${formatTime(modified)}]`), paint('size', formatSize(size).padStart(7))];
  if (storageClass !== undefined) words.push(storageClass);
  if (version !== undefined) {
    words.push(version.id, `v${ordinal ?? '?'}`, version.deleteMarker ? 'DEL' : 'PUT');
  }
  return [...words, kind === 'folder' ? paint('folder', printable(name)) : printable(name)].join(' ');
}

/** The fields of an entry in the answers of `ls`, `tree` and `find`. `url` is the address of the place that is listed. */
export function fieldsOf(entry: Entry, ordinal: number | undefined, url: string): Record<string, unknown> {
  const { name, size, modified, etag, storageClass, version } = entry;
  // Consoles make an object that ends with a slash to show an empty folder.
  const isFolder = entry.kind === 'folder' || entry.key.endsWith('/');
  return {
    type: isFolder ? 'folder' : 'file',
    lastModified: modified,
    size,
    // The object of the folder that is listed has no name below it.
    key: name === '' ? '/' : name,
    etag,
    url,
    ...(version !== undefined && { versionId: version.id }),
    ...(ordinal !== undefined && { versionOrdinal: ordinal }),
    ...(version?.deleteMarker === true && { isDeleteMarker: true }),
    storageClass,
  };
}

/** The address that is listed: of the object itself, of a folder with a slash at its end, or the beginning of names. */
function urlFor(target: Target, { key }: Entry): string {
  if (target.kind === 'local')
    return key === target.path ? resolve(key) : `${resolve(target.path)}/`.replace(/^\/+$/, '/');
  const { alias, bucket, key: wanted } = target;
  if (bucket === '') return `${alias.url}/`;
  const isInside = wanted !== '' && key.startsWith(`${wanted}/`) && key !== `${wanted}/`;
  return `${alias.url}/${bucket}/${wanted}${isInside ? '/' : ''}`;
}

export function baseOf(target: Target): string {
  if (target.kind === 'local') return target.path;
  const folder = target.key.slice(0, target.key.lastIndexOf('/') + 1);
  return `${target.alias.url}/${target.bucket === '' ? '' : `${target.bucket}/${folder}`}`;
}
