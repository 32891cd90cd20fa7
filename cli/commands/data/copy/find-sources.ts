import { basename, resolve } from 'node:path';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { Context } from '../../context.ts';
import { EncryptionRules, type EncryptionOptions } from '../../../s3/encryption-rules.ts';
import type { S3Client } from '../../../s3/client.ts';
import { isFolder } from '../../../s3/list-objects.ts';
import { headObject } from '../../../s3/objects.ts';
import { isNotFound } from '../../../s3/error-of-status.ts';
import { displayName, parseTarget, type RemoteTarget } from '../../../config/target.ts';
import { readArchives, type ZipOptions } from '../entries/archives.ts';
import { checkVersionOptions, rewindOf, type VersionOptions } from '../entries/entries.ts';
import type { Entry, Walked } from '../entries/entry.ts';
import { localEntryPages, statOf } from '../entries/local-entries.ts';
import { placeKind, remoteEntries } from '../entries/remote-entries.ts';
import { versionOf } from '../entries/select-objects.ts';
import { isStandardInput } from './byte-source.ts';
import { lastName, nameUnder } from './copy-destination.ts';
import type { FileState } from './source-state.ts';

export type FoundSource = {
  /** The form for messages. */
  readonly display: string;
  /** The name of the copy below a target folder. */
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
} & (
  | {
      readonly kind: 'file';
      readonly path: string;
      /** Set while the file is copied. */
      readonly state?: FileState;
    }
  /** A pipe, a terminal or a device. It can be read once; `size` is 0. */
  | { readonly kind: 'stream'; readonly path: string }
  | {
      readonly kind: 'object';
      readonly target: RemoteTarget;
      readonly key: string;
      readonly etag: string;
      readonly versionId?: string | undefined;
      /** Headers with metadata that the copy gets in addition. */
      readonly metadata?: Readonly<Record<string, string>>;
    }
);

/** The entries that the walk skips or cannot read. */
type NotFound = Exclude<Walked, Entry>;

export type WalkedSource = FoundSource | NotFound;

export interface SourceOptions extends Omit<VersionOptions, 'versions'>, EncryptionOptions, ZipOptions {
  readonly recursive?: boolean;
}

/** Yields the files and objects of an argument; folders only with `recursive`. */
export async function* findSources(
  context: Context,
  argument: string,
  options: SourceOptions,
): AsyncGenerator<WalkedSource, void, undefined> {
  const recursive = options.recursive === true;
  checkVersionOptions(options, recursive);
  const target = readArchives(context, parseTarget(argument, await context.aliases()), options);
  if (target.kind === 'remote') {
    yield* findObjects(await context.client(target.alias), target, options);
    return;
  }
  if (options.versionId !== undefined || options.rewind !== undefined) {
    throw new ProgramError('BadArgument', `\`${argument}\` is a path of this machine: files have no versions`);
  }
  yield* findFiles(argument, recursive);
}

async function* findFiles(argument: string, recursive: boolean): AsyncGenerator<WalkedSource, void, undefined> {
  const source = { path: argument, display: argument, name: basename(argument) };
  const stream = { kind: 'stream', ...source, size: 0, modified: new Date() } as const;
  if (isStandardInput(argument)) {
    yield stream;
    return;
  }
  const found = await statOf(argument);
  if (found.isFile()) yield { kind: 'file', ...source, size: found.size, modified: found.mtime };
  else if (!found.isDirectory()) yield stream;
  else if (!recursive) throw folderNeedsRecursive(argument);
  else yield* filesUnder(argument);
}

async function* filesUnder(folder: string): AsyncGenerator<WalkedSource, void, undefined> {
  const contentsOnly = folder.endsWith('/') || /^\.{1,2}$/.test(basename(folder));
  const own = contentsOnly ? '' : `${basename(resolve(folder))}/`;
  for await (const page of localEntryPages(folder, true)) {
    for (const one of page) {
      if (one.kind === 'unreadable' || one.kind === 'skipped') yield one;
      else yield fileSource(one, `${own}${one.name}`);
    }
  }
}

/** Makes a source of an entry of a listing. */
export function fileSource({ key, display, size, modified }: Entry, name: string): FoundSource {
  return { kind: 'file', path: key, display, name, size, modified };
}

export function objectSource(target: RemoteTarget, entry: Entry, name: string): FoundSource {
  const { bucket, key, display, size, modified, etag, version } = entry;
  return {
    kind: 'object',
    target: { ...target, bucket },
    key,
    versionId: version?.id,
    display,
    name,
    size,
    etag,
    modified,
  };
}

async function* findObjects(
  client: S3Client,
  target: RemoteTarget,
  options: SourceOptions,
): AsyncGenerator<FoundSource, void, undefined> {
  const { bucket, key, text } = target;
  if (bucket === '') throw new ProgramError('BadArgument', `Invalid source \`${text}\`: name a bucket`);
  if (options.recursive === true) {
    let any = false;
    for await (const found of under(client, target, options)) {
      any = true;
      yield found;
    }
    if (any || key === '') return;
    if (key.endsWith('/')) throw new ProgramError('NotFound', `\`${text}\` does not exist`);
  } else if (key === '' || key.endsWith('/')) {
    throw folderNeedsRecursive(text);
  }
  yield await oneObject(client, target, options);
}

async function* under(
  client: S3Client,
  target: RemoteTarget,
  options: SourceOptions,
): AsyncGenerator<FoundSource, void, undefined> {
  const { bucket, key, text } = target;
  const listing = { recursive: true, rewind: rewindOf(options) };
  const kind = key === '' ? 'folder' : await placeKind(client, target, listing);
  if (kind === 'object') return;
  // Names that begin with the key keep what follows its last slash.
  const prefix = kind === 'none' || key === '' || key.endsWith('/') ? key : `${key}/`;
  const shownFrom = kind === 'none' ? key.lastIndexOf('/') + 1 : prefix.length;
  const folder = kind === 'none' || text.endsWith('/') ? '' : key === '' ? bucket : key;
  for await (const entry of remoteEntries(client, { ...target, key: prefix }, listing)) {
    const name = nameUnder(folder, entry.key.slice(shownFrom));
    // The marker object of the folder itself.
    if (name !== '') yield objectSource(target, entry, name);
  }
}

async function oneObject(client: S3Client, target: RemoteTarget, options: SourceOptions): Promise<FoundSource> {
  const { bucket, key, text } = target;
  try {
    const versionId = await versionOf(client, target, options);
    const headers = new EncryptionRules(options, {}).forKey(displayName(target, key));
    const { size, etag, lastModified } = await headObject(client, { bucket, key, versionId }, { headers });
    const name = lastName(key);
    return { kind: 'object', target, key, versionId, display: text, name, size, etag, modified: lastModified };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (await isFolder(client, bucket, `${key}/`)) throw folderNeedsRecursive(text);
    throw new ProgramError('NotFound', `Object \`${text}\` does not exist`);
  }
}

function folderNeedsRecursive(text: string): ProgramError {
  return new ProgramError('BadArgument', `\`${text}\` is a folder: use --recursive to copy what is in it`);
}
