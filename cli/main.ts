import { setMaxListeners } from 'node:events';
import { failOnLostOutput } from '../platform/output/standard-output.ts';
import { readVersion } from './version.ts';

const interrupted = new AbortController();
// Each request that is on its way listens to it, and a copy has dozens: Node 20 warns of more than ten.
setMaxListeners(0, interrupted.signal);
let interruptedAt: number | undefined;
/** Milliseconds. The abortion of an upload may take 5 s. A thread that a named pipe blocks ends never. */
const cleanUpMs = 6_000;
/** The exit codes with which a shell reports a program that a signal ended. */
const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
let interruption: keyof typeof codes = 'SIGINT';

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    const now = performance.now();
    // The launcher forwards a signal that the terminal also sends to this process. Within 500 ms it is the same one; a later one ends the
    // process.
    if (interruptedAt !== undefined && now - interruptedAt > 500) endByInterruption();
    if (interruptedAt === undefined) interruption = signal;
    interruptedAt ??= now;
    interrupted.abort();
    setTimeout(endByInterruption, cleanUpMs).unref();
  });
}

// The channel closes when the launcher ends, even by SIGKILL.
if (process.env['COFFER_EXIT_WITH_PARENT'] === '1' && process.channel !== null) {
  process.on('disconnect', () => interrupted.abort());
  process.channel?.unref();
}

/** Milliseconds. A call of the file system that takes longer waits for another program. */
const blockedMs = 200;
const pollMs = 10;

/** Ends the process without a wait for its output, whose reader may have stopped. */
function endByInterruption(since = performance.now()): void {
  const isBlocked = process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
  if (!isBlocked) process.exit(codes[interruption]);
  if (performance.now() - since < blockedMs) {
    setTimeout(() => endByInterruption(since), pollMs);
    return;
  }
  // A named pipe without a writer or a reader blocks a thread of the file system, and an exit would wait for that.
  process.removeAllListeners(interruption);
  process.kill(process.pid, interruption);
}

failOnLostOutput('coffer');

/** The package of the client is CommonJS, which has no `await` outside of a function. */
async function main(): Promise<void> {
  const { stdin, stdout, stderr, env } = process;
  const words = process.argv.slice(2);
  if (words.length === 1 && (words[0] === '--version' || words[0] === '-v')) {
    // Scripts ask for it often. It needs none of the commands.
    stdout.write(`coffer ${readVersion()}\n`);
    return;
  }
  const { run } = await import('./program.ts');
  const exitCode = await run(words, { stdin, stdout, stderr, env, signal: interrupted.signal });
  if (interrupted.signal.aborted) {
    endByInterruption();
    return;
  }
  process.exitCode = exitCode;
  // Exits after the output is written. Open connections and standard input would keep the process running.
  stdout.write('', () => process.exit());
}

void main();
