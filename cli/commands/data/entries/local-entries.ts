import { isUtf8 } from 'node:buffer';
import { type Dirent, type Stats, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { Entry, Walked } from './entry.ts';
import { isTemporaryName } from './temporary-files.ts';

/** Files whose attributes are read at once. */
const batchSize = 64;

/**
 * Milliseconds. A local disk answers for a file in 5 µs, where a call in the background takes 40 µs of processor time. After a batch that
 * takes longer, the others of the folder are read in the background, all of a batch at the same time.
 */
const slowBatchMs = 5;

/**
 * Lists a file, or what is in a folder, in the byte order of the names, which is the order of keys in a bucket. With `recursive` it yields
 * the files of all folders below, and no folders. The memory is that of the names of one folder and of its parents.
 */
export async function* localEntryPages(
  path: string,
  recursive: boolean,
): AsyncGenerator<readonly Walked[], void, undefined> {
  const found = await statOf(path);
  if (found.isDirectory()) yield* walk(path, '', recursive, []);
  else yield [fileEntry(path, basename(path), found)];
}

/** @throws ProgramError NotFound, which says that the first name is not an alias */
export async function statOf(path: string): Promise<Stats> {
  return stat(path).catch((error: unknown) => {
    const hint = path.includes('/') ? ` (and \`${path.split('/', 1)[0]}\` is no alias)` : '';
    throw new ProgramError('NotFound', `Unable to read \`${path}\`${hint}`, { cause: error });
  });
}

async function* walk(
  folder: string,
  prefix: string,
  recursive: boolean,
  above: readonly string[],
): AsyncGenerator<readonly Walked[], void, undefined> {
  let names;
  let own;
  try {
    names = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
    own = identityOf(folder);
    if (above.includes(own)) throw new Error('it is one of the folders above it: a mount makes a loop');
  } catch (error) {
    yield [{ kind: 'unreadable', name: prefix, display: folder, error }];
    return;
  }
  const inOrder = names
    .map((entry) => [entry.isDirectory() ? Buffer.concat([entry.name, slash]) : entry.name, entry] as const)
    .sort(([one], [other]) => Buffer.compare(one, other));
  let isSlow = false;
  for (let at = 0; at < inOrder.length; at += batchSize) {
    const batch = inOrder.slice(at, at + batchSize).map(([, entry]) => entry);
    const started = performance.now();
    const looks = isSlow ? await Promise.all(batch.map(async (entry) => lookLater(folder, entry))) : undefined;
    const walked = batch.map((entry, index) => entryOf(folder, prefix, entry, recursive, looks?.[index] ?? statSync));
    isSlow ||= performance.now() - started > slowBatchMs;
    let page: Walked[] = [];
    for (const one of walked) {
      if (typeof one !== 'string') page.push(one);
      else {
        if (page.length > 0) yield page;
        page = [];
        yield* walk(join(folder, one), `${prefix}${one}/`, recursive, [...above, own]);
      }
    }
    if (page.length > 0) yield page;
  }
}

/** Tells a folder from all others of the machine. */
function identityOf(folder: string): string {
  const { dev, ino } = statSync(folder, { bigint: true });
  return `${dev}:${ino}`;
}

type Look = (path: string) => Stats;

/** Asks for the attributes of a file in the background. */
async function lookLater(folder: string, entry: Dirent<Buffer>): Promise<Look> {
  return stat(join(folder, entry.name.toString('utf8'))).then(
    (found) => () => found,
    (error: unknown) => () => {
      throw error;
    },
  );
}

const slash = Buffer.from('/');

/** Returns the name of a folder to walk, or an entry. It reads names as bytes: a key is UTF-8, so another name is reported. */
function entryOf(
  folder: string,
  prefix: string,
  entry: Dirent<Buffer>,
  recursive: boolean,
  look: Look,
): string | Walked {
  const name = entry.name.toString('utf8');
  const path = join(folder, name);
  if (!isUtf8(entry.name)) {
    const hex = entry.name.toString('hex');
    return unreadable(
      `${prefix}${name}`,
      path,
      `its name is not UTF-8 (${hex} in hexadecimal), as a key must be: rename it`,
    );
  }
  if (entry.isDirectory() && recursive) return name;
  if (isTemporaryName(name) && !entry.isDirectory())
    return { kind: 'skipped', name: `${prefix}${name}`, display: path, reason: 'it is an incomplete download' };
  try {
    const found = look(path);
    if (found.isFile()) return fileEntry(path, `${prefix}${name}`, found);
    if (!found.isDirectory())
      return unreadable(`${prefix}${name}`, path, 'it is no regular file: copy it alone, by its own name');
    return entry.isDirectory()
      ? { ...fileEntry(`${path}${sep}`, `${prefix}${name}/`, found), kind: 'folder' }
      : { kind: 'skipped', name: `${prefix}${name}`, display: path, reason: 'links to folders are not followed' };
  } catch (error) {
    return { kind: 'unreadable', name: `${prefix}${name}`, display: path, error };
  }
}

function unreadable(name: string, display: string, reason: string): Walked {
  return { kind: 'unreadable', name, display, error: new Error(reason) };
}

function fileEntry(path: string, name: string, found: Stats): Entry {
  return {
    kind: 'file',
    name,
    display: path,
    bucket: '',
    key: path,
    size: found.size,
    modified: found.mtime,
    etag: '',
  };
}
