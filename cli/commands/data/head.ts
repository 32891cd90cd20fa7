import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';
import { openTarget, type ReadOptions } from './cat.ts';

interface HeadOptions extends ReadOptions {
  readonly lines?: string;
}

/** Writes the first lines of objects and files to standard output; those of gzip are unpacked. */
export async function head(context: Context, args: readonly string[], options: HeadOptions): Promise<void> {
  const lines = Number(options.lines ?? 10);
  if (!Number.isInteger(lines) || lines < 0) {
    throw new ProgramError('BadArgument', `Invalid --lines \`${options.lines}\`: it is a whole number`);
  }
  for (const argument of args.length === 0 ? ['-'] : args) {
    const { stream, encoding, contentType } = await openTarget(context, argument, options);
    const packed = encoding === 'gzip' || contentType === 'application/gzip' || contentType === 'application/x-gzip';
    await writeLines(context, packed ? stream.compose(createGunzip()) : stream, lines);
    stream.destroy();
  }
}

async function writeLines({ io, output }: Context, stream: Readable, lines: number): Promise<void> {
  let left = lines;
  if (left === 0) return;
  for await (const chunk of stream as AsyncIterable<Buffer | string>) {
    const bytes = Buffer.from(chunk);
    let end = 0;
    while (left > 0 && end < bytes.length) {
      const newline = bytes.indexOf(0x0a, end);
      if (newline < 0) end = bytes.length;
      else {
        end = newline + 1;
        left -= 1;
      }
    }
    io.stdout.write(bytes.subarray(0, end));
    await output.drained();
    if (left === 0) return;
  }
}
