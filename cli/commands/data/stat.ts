import { contentHeaderNames } from '../../../protocol/s3/copies/copied-attributes.ts';
import { counted } from '../../../platform/text/message-text.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { basename, resolve } from 'node:path';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';
import type { S3Client } from '../../s3/client.ts';
import { isFolder } from '../../s3/list-objects.ts';
import { headObject, type ObjectRef } from '../../s3/objects.ts';
import { isNotFound } from '../../s3/error-of-status.ts';
import { formatSize, formatTime } from '../../terminal/format.ts';
import { printable } from '../../../platform/text/printable.ts';
import { EncryptionRules, type EncryptionOptions } from '../../s3/encryption-rules.ts';
import { displayName, parseTarget, type RemoteTarget, type Target } from '../../config/target.ts';
import { checkVersionOptions, entryPages, rewindOf, type VersionOptions } from './entries/entries.ts';
import { Failures, readable, type Entry } from './entries/entry.ts';
import { statOf } from './entries/local-entries.ts';
import { placeKind } from './entries/remote-entries.ts';
import { versionOf } from './entries/select-objects.ts';
import { block, describeEncryption, line, statBucket } from './stat-bucket.ts';
import { attributesHeader, formatAttributes } from './copy/file-attributes.ts';
import { lastName } from './copy/copy-destination.ts';
import { contentTypeOf } from './copy/object-headers.ts';

interface StatOptions extends VersionOptions, EncryptionOptions {
  readonly recursive?: boolean;
  /** The caller may have no permission to list. */
  readonly list?: boolean;
}

/** An object with the name to show, and the one by which the flags of encryption find it. */
interface NamedRef extends ObjectRef {
  readonly name: string;
  readonly display: string;
}

/** Shows the properties of an object, file or bucket; of each entry of a folder, or with `recursive` of all below it. */
export async function statTarget(
  context: Context,
  [argument = '']: readonly string[],
  options: StatOptions,
): Promise<void> {
  const target = parseTarget(argument, await context.aliases());
  const { recursive = false, versions = false } = options;
  checkVersionOptions(options, recursive);
  if (target.kind === 'local') {
    const isInside = argument.endsWith('/') && (await statOf(target.path)).isDirectory();
    if (recursive || isInside) await statEntries(context, argument, options);
    else await statFile(context, target.path);
    return;
  }
  const ofFolder = target.bucket === '' || (target.key.endsWith('/') && options.versionId === undefined);
  if (recursive || versions || (ofFolder && options.list !== false)) await statEntries(context, argument, options);
  else if (target.key === '') await statBucket(context, await context.client(target.alias), target);
  else await statObjectOrFolder(context, await context.client(target.alias), target, options);
}

async function statEntries(context: Context, argument: string, options: StatOptions): Promise<void> {
  const target = parseTarget(argument, await context.aliases());
  const { recursive = false, versions = false } = options;
  const failures = new Failures(context);
  const oneKey = versions && !recursive && target.kind === 'remote' && target.key !== '' && !target.key.endsWith('/');
  const show = async (asRecursive: boolean, isShown: (entry: Entry) => boolean): Promise<boolean> => {
    const listing = { recursive: asRecursive, versions, rewind: rewindOf(options) };
    let any = false;
    for await (const entry of readable(context, entryPages(context, target, listing), failures)) {
      if (!isShown(entry)) break;
      any = true;
      await statEntry(context, argument, entry, options).catch((error: unknown) => {
        failures.report(error, `Unable to stat \`${printable(entry.display)}\``);
      });
    }
    return any;
  };
  if (oneKey && (await show(true, (entry) => entry.key === target.key))) {
    failures.throwIfAny();
    return;
  }
  if (oneKey && (await placeKind(await context.client(target.alias), target, { recursive })) !== 'none') {
    printFolder(context, `${lastName(target.key)}/`, new Date());
    return;
  }
  // A key without any versions gives the versions of all names that begin with it, as without `versions`.
  const any = await show(recursive, () => true);
  if (!any && target.kind === 'remote' && target.key !== '')
    throw new ProgramError('NotFound', `\`${argument}\` does not exist`);
  failures.throwIfAny();
}

async function statEntry(context: Context, argument: string, entry: Entry, options: StatOptions): Promise<void> {
  const target = parseTarget(argument, await context.aliases());
  if (target.kind === 'local') await statFile(context, entry.key, shownName(target, entry));
  else if (entry.kind === 'folder') printFolder(context, entry.name, entry.modified);
  else if (entry.version?.deleteMarker === true) {
    const { name, modified, version } = entry;
    const lines = { Name: printable(name), Date: formatTime(modified), VersionID: version.id, Type: 'delete marker' };
    const fields = {
      name,
      lastModified: modified,
      size: 0,
      etag: '',
      type: 'file',
      versionID: version.id,
      deleteMarker: true,
    };
    await context.output.line(`${block(lines)}\n`, fields);
  } else {
    const { bucket, key, display } = entry;
    const name = (options.recursive === true ? shownName(target, entry) : entry.name) || lastName(key);
    const ref = { bucket, key, versionId: entry.version?.id, name, display };
    await statObject(context, await context.client(target.alias), ref, options);
  }
}

/** The name as other clients print it: below a place that ends with a slash, otherwise with the last name of the place. */
function shownName(target: Target, { bucket, key, name }: Entry): string {
  if (target.kind === 'local') {
    const { path } = target;
    return path.endsWith('/') || key === path ? name : `${basename(resolve(path))}/${name}`;
  }
  if (target.bucket === '' || target.text.endsWith('/')) return name;
  return target.key === '' ? `${bucket}/${key}` : key.slice(target.key.lastIndexOf('/') + 1);
}

async function statObjectOrFolder(
  context: Context,
  client: S3Client,
  target: RemoteTarget,
  options: StatOptions,
): Promise<void> {
  const { bucket, key } = target;
  const name = key.slice(key.lastIndexOf('/') + 1);
  try {
    const versionId = await versionOf(client, target, options);
    const display = displayName(target, key);
    await statObject(context, client, { bucket, key, versionId, name, display }, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const isMissing = options.list === false || options.versionId !== undefined;
    const kind = isMissing ? 'none' : await placeKind(client, target, { recursive: false });
    if (kind === 'none' && !isMissing && (await isFolder(client, bucket, key))) {
      await statEntries(context, target.text, options);
      return;
    }
    if (kind === 'none') {
      throw new ProgramError('NotFound', `Object \`${target.text}\` does not exist`, { cause: error });
    }
    printFolder(context, `${name}/`, new Date());
  }
}

async function statObject(
  context: Context,
  client: S3Client,
  ref: NamedRef,
  options: EncryptionOptions,
): Promise<void> {
  const { name, display } = ref;
  const key = new EncryptionRules(options, {}).forKey(display);
  const asked = { ...key, 'x-amz-checksum-mode': 'ENABLED' };
  const { size, etag, lastModified, headers } = await headObject(client, ref, { headers: asked });
  const metadata = Object.fromEntries(
    Object.entries(headers)
      .filter(([header]) => isShown(header))
      .map(([header, value]) => [headerName(header), String(value)]),
  );
  const encryption = describeEncryption(
    headers['x-amz-server-side-encryption'],
    headers['x-amz-server-side-encryption-aws-kms-key-id'],
  );
  const version = headers['x-amz-version-id'];
  const versionID = typeof version === 'string' ? version : undefined;
  const lines = {
    Name: printable(name),
    Date: formatTime(lastModified),
    Size: `${formatSize(size)} (${counted(size, 'byte')})`,
    ETag: etag,
    ...(versionID !== undefined && { VersionID: versionID }),
    Type: 'file',
    ...(encryption !== '' && { Encryption: encryption }),
  };
  const details = Object.entries(metadata).map(([header, value]) => `  ${header.padEnd(18)}: ${printable(value)}`);
  const human = details.length === 0 ? block(lines) : `${block(lines)}\n${line('Metadata', '')}\n${details.join('\n')}`;
  const checksum = checksumsOf(headers);
  const type = display.endsWith('/') ? 'folder' : 'file';
  const fields = { name, lastModified, size, etag, type, metadata, versionID, checksum };
  await context.output.line(`${human}\n`, fields);
}

/** The checksums that the server keeps, by their algorithms; undefined without any. */
function checksumsOf(headers: IncomingHttpHeaders): Readonly<Record<string, unknown>> | undefined {
  const found = Object.entries(headers).flatMap(([header, value]) => {
    const [, algorithm] = /^x-amz-checksum-(crc32|crc32c|crc64nvme|sha1|sha256)$/.exec(header) ?? [];
    return algorithm === undefined ? [] : [[algorithm.toUpperCase(), value] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** `shown` is the name where the file is one of several. */
async function statFile(context: Context, path: string, shown?: string): Promise<void> {
  const found = await statOf(path);
  const { size, mtime: lastModified } = found;
  const isFolder = found.isDirectory();
  const name = shown ?? (isFolder ? `${basename(resolve(path))}/` : basename(path));
  const type = isFolder ? 'folder' : 'file';
  const contentType = isFolder ? 'application/octet-stream' : contentTypeOf(path);
  const metadata = { 'Content-Type': contentType, [headerName(attributesHeader)]: formatAttributes(found) };
  const lines = {
    Name: printable(path),
    Date: formatTime(lastModified),
    ...(!isFolder && { Size: `${formatSize(size)} (${counted(size, 'byte')})` }),
    Type: type,
  };
  await context.output.line(`${block(lines)}\n`, { name, lastModified, size, etag: '', type, metadata });
}

function printFolder({ output }: Context, name: string, lastModified: Date): void {
  const fields = { name, lastModified, size: 0, etag: '', type: 'folder' };
  output.message(`${block({ Name: printable(name), Date: formatTime(lastModified), Type: 'folder' })}\n`, fields);
}

const shownHeaders: ReadonlySet<string> = new Set([...contentHeaderNames, 'x-amz-storage-class']);

const shownPrefixes = ['x-amz-meta-', 'x-amz-server-side-encryption', 'x-amz-object-lock-', 'x-amz-tagging-count'];

function isShown(header: string): boolean {
  return shownHeaders.has(header) || shownPrefixes.some((prefix) => header.startsWith(prefix));
}

function headerName(header: string): string {
  return header.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
