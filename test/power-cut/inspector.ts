import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Shown } from './inspect.ts';

export type Inspection = { readonly shown: Shown; readonly issues: readonly string[] } | { readonly error: string };

/** Asks a process of its own what data folders show, a new one where a folder was so damaged that it ended the last. */
export class Inspector {
  #child: ChildProcess | undefined;

  async inspect(folder: string): Promise<Inspection> {
    const child = (this.#child ??= fork(fileURLToPath(new URL('inspect.ts', import.meta.url)), {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    }));
    const ended = new AbortController();
    child.send(folder);
    try {
      return await Promise.race([
        once(child, 'message', { signal: ended.signal }).then(([inspection]) => inspection as Inspection),
        once(child, 'exit', { signal: ended.signal }).then(([code, signal]) => {
          this.#child = undefined;
          return { error: `opening the folder ended the process (${String(signal ?? code)})` };
        }),
      ]);
    } finally {
      ended.abort();
    }
  }

  stop(): void {
    this.#child?.kill('SIGKILL');
  }
}
