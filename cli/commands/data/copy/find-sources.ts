import { isUtf8 } from 'node:buffer';
import { opendir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { CliError } from '../../../config/cli-error.ts';
import type { Context } from '../../context.ts';
import type { S3Client } from '../../../s3/client.ts';
import { allObjects, isFolder } from '../../../s3/list-objects.ts';
import { headObject } from '../../../s3/objects.ts';
import { isNotFound } from '../../../s3/s3-response-error.ts';
import { displayName, parseTarget, type RemoteTarget } from '../../../config/target.ts';
import { isStandardInput } from './byte-source.ts';
import { lastName, nameUnder } from './copy-destination.ts';

export type FoundSource = {
  /** The form for messages. */
  readonly display: string;
  /** The name of the copy below a target folder. */
  readonly name: string;
  readonly size: number;
} & (
  | { readonly kind: 'file'; readonly path: string }
  /** A pipe, a terminal or a device. It can be read once; `size` is 0. */
  | { readonly kind: 'stream'; readonly path: string }
  | { readonly kind: 'object'; readonly target: RemoteTarget; readonly key: string; readonly etag: string }
);

/** An entry of a folder that cannot be copied. The walk continues. */
interface UnreadableSource {
  readonly kind: 'unreadable';
  readonly display: string;
  readonly error: unknown;
}

/** A link to a folder. The command skips it with a warning, since links may form a cycle. */
interface SkippedSource {
  readonly kind: 'skipped';
  readonly display: string;
  readonly reason: string;
}

export type WalkedSource = FoundSource | UnreadableSource | SkippedSource;

/** Yields the files and objects of an argument; folders only with `recursive`. */
export async function* findSources(
  context: Context,
  argument: string,
  recursive: boolean,
): AsyncGenerator<WalkedSource, void, undefined> {
  const target = parseTarget(argument, await context.aliases());
  if (target.kind === 'local') yield* findFiles(argument, recursive);
  else yield* findObjects(await context.client(target.alias), target, recursive);
}

async function* findFiles(argument: string, recursive: boolean): AsyncGenerator<WalkedSource, void, undefined> {
  const source = { path: argument, display: argument, name: basename(argument) };
  if (isStandardInput(argument)) {
    yield { kind: 'stream', ...source, size: 0 };
    return;
  }
  const found = await stat(argument).catch((error: unknown) => {
    const hint = argument.includes('/') ? ` (and \`${argument.split('/', 1)[0]}\` is no alias)` : '';
    throw new CliError('NotFound', `Unable to read \`${argument}\`${hint}`, { cause: error });
  });
  if (found.isDirectory()) {
    if (!recursive) throw folderNeedsRecursive(argument);
    const contentsOnly =
      argument.endsWith('/') || (basename(argument).startsWith('.') && /^\.{1,2}$/.test(basename(argument)));
    const own = contentsOnly ? '' : basename(resolve(argument));
    yield* walk(argument, own === '' ? '' : `${own}/`);
    return;
  }
  if (found.isFile()) yield { kind: 'file', ...source, size: found.size };
  else yield { kind: 'stream', ...source, size: 0 };
}

/** Yields regular files, and links to them. The walk reads names as bytes: a key is UTF-8, so another name is reported. */
async function* walk(folder: string, prefix: string): AsyncGenerator<WalkedSource, void, undefined> {
  let entries;
  try {
    entries = await opendir(folder, { encoding: 'buffer' as BufferEncoding });
  } catch (error) {
    yield { kind: 'unreadable', display: folder, error };
    return;
  }
  for await (const entry of entries) {
    const bytes = entry.name as unknown as Buffer;
    const name = bytes.toString('utf8');
    const path = join(folder, name);
    if (!isUtf8(bytes)) {
      yield unreadable(
        path,
        `its name is not UTF-8 (${bytes.toString('hex')} in hexadecimal), as a key must be: rename it`,
      );
    } else if (entry.isDirectory()) {
      yield* walk(path, `${prefix}${name}/`);
    } else {
      yield* fileOf(path, `${prefix}${name}`);
    }
  }
}

async function* fileOf(path: string, name: string): AsyncGenerator<WalkedSource, void, undefined> {
  try {
    const found = await stat(path);
    if (found.isFile()) yield { kind: 'file', path, display: path, name, size: found.size };
    else if (found.isDirectory()) yield { kind: 'skipped', display: path, reason: 'links to folders are not followed' };
    else yield unreadable(path, 'it is no regular file: copy it alone, by its own name');
  } catch (error) {
    yield { kind: 'unreadable', display: path, error };
  }
}

function unreadable(display: string, reason: string): UnreadableSource {
  return { kind: 'unreadable', display, error: new Error(reason) };
}

async function* findObjects(
  client: S3Client,
  target: RemoteTarget,
  recursive: boolean,
): AsyncGenerator<FoundSource, void, undefined> {
  const { bucket, key, text } = target;
  if (bucket === '') throw new CliError('BadArgument', `Invalid source \`${text}\`: name a bucket`);
  if (recursive) {
    let any = false;
    for await (const found of under(client, target)) {
      any = true;
      yield found;
    }
    if (any || key === '' || key.endsWith('/')) return;
  } else if (key === '' || key.endsWith('/')) {
    throw folderNeedsRecursive(text);
  }
  yield await oneObject(client, target);
}

async function* under(client: S3Client, target: RemoteTarget): AsyncGenerator<FoundSource, void, undefined> {
  const { bucket, key, text } = target;
  const prefix = key === '' || key.endsWith('/') ? key : `${key}/`;
  const folder = text.endsWith('/') ? '' : key === '' ? bucket : key;
  for await (const { key: found, size, etag } of allObjects(client, bucket, prefix)) {
    const name = nameUnder(folder, found.slice(prefix.length));
    // The marker object of the folder itself.
    if (name === '') continue;
    yield { kind: 'object', target, key: found, display: displayName(target, found), name, size, etag };
  }
}

async function oneObject(client: S3Client, target: RemoteTarget): Promise<FoundSource> {
  const { bucket, key, text } = target;
  try {
    const { size, etag } = await headObject(client, bucket, key);
    return { kind: 'object', target, key, display: text, name: lastName(key), size, etag };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (await isFolder(client, bucket, `${key}/`)) throw folderNeedsRecursive(text);
    throw new CliError('NotFound', `Object \`${text}\` does not exist`);
  }
}

function folderNeedsRecursive(text: string): CliError {
  return new CliError('BadArgument', `\`${text}\` is a folder: use --recursive to copy what is in it`);
}
