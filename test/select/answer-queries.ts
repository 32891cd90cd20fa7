import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { parseSelectRequest } from '../../server/select/select-request.ts';
import { select } from '../support/select/select-test.ts';

/**
 * Answers queries from standard input, one a line: `{ path, request }`, the file and the XML document of the request. The answer is
 * `{ result }` or `{ error }`. `any_files.py` starts it, since a server for each query would take most of the time.
 */
interface Asked {
  readonly path: string;
  readonly request: string;
}

async function answer({ path, request }: Asked): Promise<{ readonly result: string } | { readonly error: string }> {
  try {
    return { result: await select(await readFile(path), parseSelectRequest(Buffer.from(request))) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? `${String(error.code)}: ` : '';
    return { error: `${code}${error instanceof Error ? error.message : String(error)}` };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line) as Asked))}\n`);
}
