import { ProgramError } from '../../platform/errors/program-error.ts';
import { readTextFile, settingTextOf } from '../../platform/settings/read-setting-file.ts';
import { fileErrorReason } from '../../platform/errors/system-error.ts';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** The streams and environment of the process. Tests pass their own. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
}

const maxInputBytes = 16 * 1_024 * 1_024;

/** Reads a document from standard input. */
export async function readAll({ stdin }: Pick<Io, 'stdin'>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk as Buffer | string);
    length += bytes.length;
    if (length > maxInputBytes) throw new Error(`Standard input is longer than ${maxInputBytes} bytes`);
    chunks.push(bytes);
  }
  try {
    return settingTextOf(Buffer.concat(chunks));
  } catch (error) {
    throw new ProgramError('BadArgument', `Unable to use standard input: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Reads a document, such as a policy, from a file, or from standard input for `-`. @throws ProgramError BadArgument */
export async function readDocument(io: Pick<Io, 'stdin'>, path: string): Promise<string> {
  if (path === '-') return readAll(io);
  try {
    return await readTextFile(path);
  } catch (error) {
    throw new ProgramError('BadArgument', `Unable to read \`${path}\`: ${fileErrorReason(error)}`, { cause: error });
  }
}

/** Writes to standard output, and waits while its reader is slow. */
export async function writeOut({ stdout, signal }: Pick<Io, 'stdout' | 'signal'>, bytes: Uint8Array): Promise<void> {
  if (!stdout.write(bytes)) await once(stdout, 'drain', { signal });
}

/** Reads a stream until a signal. A named pipe does not end a read that waits for its writer. */
export async function* untilAborted(stream: Readable, signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
  const aborted = aborting(signal);
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  for (;;) {
    const next = await Promise.race([chunks.next(), aborted]);
    if (next.done === true) return;
    yield next.value;
  }
}

/** Rejects when a signal is aborted. */
async function aborting(signal: AbortSignal): Promise<never> {
  signal.throwIfAborted();
  await once(signal, 'abort');
  throw signal.reason;
}
