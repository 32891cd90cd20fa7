import { UsageError } from './usage-error.ts';

/** More than any call takes. */
const maxInputBytes = 1024 * 1024;

/** The standard input to its end. Errors with a `UsageError` where a person would have to type it, or it is larger than any call takes. */
export async function readInput(): Promise<Buffer> {
  if (process.stdin.isTTY) throw new UsageError('give it as an argument, or on the standard input');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxInputBytes) throw new UsageError(`the standard input is larger than ${maxInputBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

let pending: AbortController | undefined;

/** Comes with the first Ctrl+C or SIGTERM from now on; the second ends the process as ever. */
export function interruption(): AbortSignal {
  if (pending === undefined) {
    const controller = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
    pending = controller;
  }
  return pending.signal;
}
