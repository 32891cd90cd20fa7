import { stat } from 'node:fs/promises';
import { semaphore } from '../../../../platform/async/concurrency.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { parseObject, parseTarget, type Target } from '../../../config/target.ts';
import { headObject } from '../../../s3/objects.ts';
import { UploadSessions } from '../../../s3/upload-sessions.ts';
import { formatSize } from '../../../terminal/format.ts';
import type { Context } from '../../context.ts';
import { parseSize } from '../entries/sizes.ts';
import { fileSource, objectSource, type ByteSource } from './byte-source.ts';
import { Downloads } from './download.ts';
import { contentTypeOf } from './object-headers.ts';
import { upload } from './upload.ts';

/** Bytes. */
const minPartSize = 5 * 1_024 * 1_024;

/** The command `od`: copies a number of parts of a file or object, and measures the time. The operands are `if=`, `of=`, `size=`, `parts=`, `skip=`. */
export async function objectDump(context: Context, args: readonly string[]): Promise<void> {
  const operands = parseOperands(args);
  const aliases = await context.aliases();
  const [source, target] = [parseTarget(operands.if, aliases), parseTarget(operands.of, aliases)];
  if (source.kind === target.kind) {
    throw new ProgramError('BadArgument', 'One of if= and of= is a path of this machine, the other ALIAS/BUCKET/KEY');
  }
  const whole = await sourceOf(context, source, operands.if);
  const range = rangeOf(whole, operands);
  const started = performance.now();
  if (target.kind === 'local') await new Downloads(context.io).write(range.source, target.path, () => undefined);
  else await toServer(context, operands, range);
  const elapsed = performance.now() - started;
  const { partSize, parts } = range;
  const totalSize = range.source.size;
  const seconds = Math.max(elapsed, 1) / 1_000;
  const speed = formatSize(Math.round(totalSize / seconds));
  const human = `Transferred: ${formatSize(totalSize)}, Parts: ${parts}, Time: ${seconds.toFixed(3)}s, Speed: ${speed}/s`;
  context.output.message(human, {
    type: target.kind === 'local' ? 'S3toFS' : 'FStoS3',
    source: operands.if,
    target: operands.of,
    partSize,
    totalSize,
    parts,
    skip: operands.skip,
    elapsed: Math.round(elapsed),
  });
}

interface Operands {
  readonly if: string;
  readonly of: string;
  /** Bytes of a part. */
  readonly size: number | undefined;
  readonly parts: number | undefined;
  readonly skip: number;
}

function parseOperands(args: readonly string[]): Operands {
  const given = new Map<string, string>();
  for (const argument of args) {
    const [, name = '', value = ''] = /^(if|of|size|parts|skip)=(.+)$/s.exec(argument) ?? [];
    if (name === '' || given.has(name)) {
      throw new ProgramError(
        'BadArgument',
        `Invalid operand \`${argument}\`: they are if=, of=, size=, parts= and skip=, each once`,
      );
    }
    given.set(name, value);
  }
  const [from, to, size] = ['if', 'of', 'size'].map((name) => given.get(name));
  if (from === undefined || to === undefined)
    throw new ProgramError('BadArgument', 'The operands if= and of= are needed');
  return {
    if: from,
    of: to,
    size: size === undefined ? undefined : parseSize('size=', size),
    parts: count('parts', given.get('parts'), 1),
    skip: count('skip', given.get('skip'), 0) ?? 0,
  };
}

function count(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new ProgramError('BadArgument', `Invalid operand \`${name}=${text}\`: it is a whole number from ${least}`);
}

async function sourceOf(context: Context, target: Target, text: string): Promise<ByteSource> {
  if (target.kind === 'local') return fileSource(target.path, (await stat(target.path)).size);
  const { alias, bucket, key } = parseObject(text, await context.aliases());
  const client = await context.client(alias);
  const { size, etag } = await headObject(client, { bucket, key });
  return objectSource(client, { bucket, key, etag, size });
}

interface Range {
  readonly source: ByteSource;
  readonly partSize: number;
  readonly parts: number;
}

/** Without `size` the parts share the whole source; without `parts` all of it is copied. */
function rangeOf(whole: ByteSource, { size, parts, skip }: Operands): Range {
  const partSize = Math.max(1, size ?? Math.ceil(whole.size / (parts ?? 1)));
  const start = Math.min(whole.size, skip * partSize);
  const end = parts === undefined ? whole.size : Math.min(whole.size, start + parts * partSize);
  const source = {
    size: end - start,
    open: (from: number, to: number) => whole.open(start + from, start + to),
  };
  return { source, partSize, parts: Math.max(1, Math.ceil(source.size / partSize)) };
}

async function toServer(context: Context, operands: Operands, { source, partSize, parts }: Range): Promise<void> {
  if (parts > 1 && partSize < minPartSize) {
    throw new ProgramError(
      'BadArgument',
      `A part of ${partSize} bytes is too small: each but the last has at least 5MiB`,
    );
  }
  const { alias, bucket, key } = parseObject(operands.of, await context.aliases());
  await upload(
    source,
    {
      client: await context.client(alias),
      bucket,
      key,
      headers: { 'content-type': contentTypeOf(operands.if) },
      partHeaders: {},
      digests: { md5: false },
      semaphore: semaphore(1),
      parallel: 1,
      count: () => undefined,
      sessions: new UploadSessions(context.folder),
      cleaner: async () => context.newClient(alias, AbortSignal.timeout(5_000)),
    },
    { above: partSize, partSize },
  );
}
