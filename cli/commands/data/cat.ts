import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context } from '../context.ts';
import { readObject, headObject } from '../../s3/objects.ts';
import { parseObject, parseTarget } from '../../config/target.ts';

/** Writes objects and files to standard output, in their order. */
export async function cat(context: Context, arguments_: readonly string[]): Promise<void> {
  for (const argument of arguments_) await catOne(context, argument);
}

async function catOne(context: Context, argument: string): Promise<void> {
  const aliases = await context.aliases();
  const parsed = parseTarget(argument, aliases);
  if (parsed.kind === 'local') {
    await pipeline(createReadStream(parsed.path, { highWaterMark: 262_144 }), context.io.stdout, { end: false });
    return;
  }
  const { alias, bucket, key } = parseObject(argument, aliases);
  const client = await context.client(alias);
  const { size, etag } = await headObject(client, bucket, key);
  const body = Readable.from(readObject(client, { bucket, key, etag, start: 0, end: size }), { objectMode: false });
  await pipeline(body, context.io.stdout, { end: false });
}
