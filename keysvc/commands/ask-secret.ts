import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** What a person types at the terminal, which does not show it; undefined where there is none. Ctrl+C rejects. */
export async function askSecret(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined;
  // Echo is what the line editor writes.
  const nothing = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nothing, terminal: true });
  // Not before: what somebody types at a question, however fast, is not shown from here on.
  process.stderr.write(question);
  const interrupted = new AbortController();
  lines.on('SIGINT', () => interrupted.abort(new Error('interrupted')));
  try {
    return await lines.question('', { signal: interrupted.signal });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
