import { opendir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { CliError } from '../cli-error.ts';
import type { Context } from '../context.ts';
import type { S3Client } from '../s3/client.ts';
import { allObjects, isFolder } from '../s3/list-objects.ts';
import { headObject } from '../s3/objects.ts';
import { isNotFound } from '../s3/s3-response-error.ts';
import { displayName, parseTarget, type RemoteTarget } from '../target.ts';
import { lastName, nameUnder } from './paths.ts';

export type FoundSource = {
  /** As a person writes it. */
  readonly display: string;
  /** What the copy is called under a target folder. */
  readonly name: string;
  readonly size: number;
} & (
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'object'; readonly target: RemoteTarget; readonly key: string; readonly etag: string }
);

/** The files and objects that an argument names; those of folders only with `recursive`. */
export async function* findSources(
  context: Context,
  argument: string,
  recursive: boolean,
): AsyncGenerator<FoundSource, void, undefined> {
  const target = parseTarget(argument, await context.aliases());
  if (target.kind === 'local') yield* findFiles(argument, recursive);
  else yield* findObjects(await context.client(target.alias), target, recursive);
}

async function* findFiles(argument: string, recursive: boolean): AsyncGenerator<FoundSource, void, undefined> {
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
  yield { kind: 'file', path: argument, display: argument, name: basename(argument), size: found.size };
}

/** Regular files, and links to them. Links to folders are not followed, since they may lead round in a circle. */
async function* walk(folder: string, prefix: string): AsyncGenerator<FoundSource, void, undefined> {
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      yield* walk(path, `${prefix}${entry.name}/`);
      continue;
    }
    const found = entry.isFile() || entry.isSymbolicLink() ? await stat(path).catch(() => undefined) : undefined;
    if (found?.isFile() === true) {
      yield { kind: 'file', path, display: path, name: `${prefix}${entry.name}`, size: found.size };
    }
  }
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
    // The marker of the folder itself, whose contents are copied.
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
