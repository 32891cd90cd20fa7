import type { Readable } from 'node:stream';
import { CliError } from '../cli-error.ts';

/** Bytes; a line is one request, or one message of a log. */
const longestLine = 1024 * 1024;

/**
 * Values of a stream with one JSON document on each line. Empty lines, by which servers keep the connection alive, are left out, and
 * so is a line that the end of the stream cut.
 */
export async function* jsonLines<T>(stream: Readable): AsyncGenerator<T, void, undefined> {
  let rest = '';
  stream.setEncoding('utf8');
  for await (const piece of stream as AsyncIterable<string>) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield parsed(line) as T;
    if (rest.length > longestLine)
      throw new CliError('Failed', `The server sent a line of more than ${longestLine} bytes`);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new CliError('Failed', 'The server sent a line that is no JSON', { cause: error });
  }
}
