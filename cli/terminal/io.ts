import type { Readable, Writable } from 'node:stream';

/** The streams and environment of the process. Tests pass their own. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
}

const longest = 16 * 1_024 * 1_024;

/** Reads a document from standard input. */
export async function readAll({ stdin }: Pick<Io, 'stdin'>): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stdin) {
    const bytes = Buffer.from(piece as Buffer | string);
    length += bytes.length;
    if (length > longest) throw new Error(`Standard input is longer than ${longest} bytes`);
    pieces.push(bytes);
  }
  return Buffer.concat(pieces).toString('utf8');
}
