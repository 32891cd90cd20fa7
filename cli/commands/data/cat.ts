import { counted } from '../../../platform/text/message-text.ts';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { Context } from '../context.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { readObject, headObject, type ObjectHeaders } from '../../s3/objects.ts';
import { EncryptionRules, type EncryptionOptions } from '../../s3/encryption-rules.ts';
import { displayName, parseObject, parseTarget } from '../../config/target.ts';
import { readArchives, type ZipOptions } from './entries/archives.ts';
import type { VersionOptions } from './entries/entries.ts';
import { statOf } from './entries/local-entries.ts';
import { untilAborted, writeOut } from '../../terminal/io.ts';
import { versionOf } from './entries/select-objects.ts';

export interface ReadOptions extends VersionOptions, EncryptionOptions, ZipOptions {
  /** Bytes. */
  readonly offset?: string;
  /** Bytes. */
  readonly tail?: string;
  readonly partNumber?: string;
}

/** Writes objects and files to standard output, in their order. `-` is standard input. */
export async function cat(context: Context, args: readonly string[], options: ReadOptions): Promise<void> {
  if (options.offset !== undefined && options.tail !== undefined) {
    throw new ProgramError('BadArgument', 'Give either --offset or --tail');
  }
  for (const argument of args) {
    const { stream } = await openTarget(context, argument, options);
    for await (const bytes of stream) await writeOut(context.io, Buffer.from(bytes as Buffer | string));
  }
}

/** Bytes. */
const highWaterMark = 262_144;

/** Opens an object, a file, or standard input. `encoding` is the Content-Encoding of an object. */
export async function openTarget(
  context: Context,
  argument: string,
  options: ReadOptions,
): Promise<{ readonly stream: Readable; readonly encoding: string; readonly contentType: string }> {
  const aliases = await context.aliases();
  const plain = { encoding: '', contentType: '' };
  if (argument === '-') return { stream: context.io.stdin, ...plain };
  const parsed = readArchives(context, parseTarget(argument, aliases), options);
  if (parsed.kind === 'local') {
    if (options.versionId !== undefined || options.rewind !== undefined || options.partNumber !== undefined) {
      throw new ProgramError('BadArgument', `\`${argument}\` is a file: it has no versions or parts`);
    }
    const found = await statOf(parsed.path);
    if (found.isDirectory()) throw new ProgramError('BadArgument', `\`${argument}\` is a folder`);
    // The size of a pipe or device is 0.
    const size = found.isFile() ? found.size : Infinity;
    return {
      stream: Readable.from(
        untilAborted(createReadStream(parsed.path, { start: startOf(options, size), highWaterMark }), context.signal),
        { objectMode: false },
      ),
      ...plain,
    };
  }
  const target = parseObject(argument, aliases);
  const client = await context.client(target.alias);
  const ref = { bucket: target.bucket, key: target.key, versionId: await versionOf(client, target, options) };
  const partNumber = options.partNumber === undefined ? undefined : count('--part-number', options.partNumber);
  const ownKey = new EncryptionRules(options, {}).forKey(displayName(target, target.key));
  const { size, etag, headers, contentType } = await headObject(client, ref, { partNumber, headers: ownKey });
  const encoding = headers['content-encoding'] ?? '';
  if (partNumber !== undefined) {
    if (options.offset !== undefined || options.tail !== undefined) {
      throw new ProgramError('BadArgument', '--part-number names a whole part: leave out --offset and --tail');
    }
    const query = { partNumber, versionId: ref.versionId };
    const match: ObjectHeaders = { ...ownKey, 'if-match': `"${etag}"` };
    const { body } = await client.send({ method: 'GET', bucket: ref.bucket, key: ref.key, query, headers: match });
    return { stream: body, encoding, contentType };
  }
  const start = startOf(options, size);
  const range = { ...ref, etag, start, end: size, isWhole: start === 0, headers: ownKey };
  return { stream: Readable.from(readObject(client, range), { objectMode: false }), encoding, contentType };
}

function startOf({ offset, tail }: ReadOptions, size: number): number {
  // As in other clients, 0 is the default: all of it.
  if (tail !== undefined && count('--tail', tail) > 0) {
    if (size === Infinity) throw new ProgramError('BadArgument', '--tail needs a file or object of known size');
    return Math.max(0, size - count('--tail', tail));
  }
  const start = offset === undefined ? 0 : count('--offset', offset);
  if (start <= size) return start;
  throw new ProgramError('BadArgument', `Invalid --offset \`${offset}\`: its size is ${counted(size, 'byte')}`);
}

function count(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ProgramError('BadArgument', `Invalid ${option} \`${text}\`: it is a whole number`);
}
