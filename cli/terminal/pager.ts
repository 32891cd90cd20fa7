import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** A program that shows long output page by page. */
interface Pager {
  /** Its standard input. */
  readonly input: Writable;
  /** Resolves when the user has left the pager. */
  end(): Promise<void>;
}

/** Returns the words of the pager: those of `PAGER`, or `less`. Undefined if the user wants none. */
export function pagerCommand(env: NodeJS.ProcessEnv): readonly string[] | undefined {
  if (['1', 'on', 'true', 'yes'].includes((env['MC_DISABLE_PAGER'] ?? '').toLowerCase())) return undefined;
  const words = (env['PAGER'] ?? 'less').split(/\s+/).filter(Boolean);
  return words.length === 0 || words[0] === 'cat' ? undefined : words;
}

/**
 * Starts the pager on this terminal. Returns undefined if the program does not exist. `onLeave` is called when the user leaves it before
 * the output is complete.
 */
export async function startPager(env: NodeJS.ProcessEnv, onLeave: () => void): Promise<Pager | undefined> {
  const [program, ...args] = pagerCommand(env) ?? [];
  if (program === undefined) return undefined;
  const child = spawn(program, args, {
    stdio: ['pipe', 'inherit', 'inherit'],
    // A text that fits the screen is only printed, and colors pass.
    env: { ...env, LESS: env['LESS'] ?? 'FRX' },
  });
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => {
      if (!child.stdin.writableEnded) onLeave();
      resolve();
    });
  });
  // The user leaves before everything was written.
  child.stdin.on('error', () => undefined);
  try {
    await once(child, 'spawn');
  } catch {
    return undefined;
  }
  return {
    input: child.stdin,
    async end() {
      child.stdin.end();
      await closed;
    },
  };
}
