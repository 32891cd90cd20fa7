import { setMaxListeners } from 'node:events';
import { failOnLostOutput } from '../platform/standard-output.ts';
import { readVersion } from './version.ts';

const interrupted = new AbortController();
// Each request that is on its way listens to it, and a copy has dozens: Node 20 warns of more than ten.
setMaxListeners(0, interrupted.signal);
let interruptedAt: number | undefined;
/** As a shell reports a program that a signal ended. */
let interruptedCode = 130;

for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 })) {
  process.on(signal, () => {
    const now = performance.now();
    // The launcher forwards a signal that the terminal also sends to this process. Within 500 ms it is the same one; a later one ends the
    // process.
    if (interruptedAt !== undefined && now - interruptedAt > 500) process.exit(interruptedCode);
    if (interruptedAt === undefined) interruptedCode = code;
    interruptedAt ??= now;
    interrupted.abort();
  });
}

// The channel closes when the launcher ends, even by SIGKILL.
if (process.env['COFFER_EXIT_WITH_PARENT'] === '1' && process.channel !== null) {
  process.on('disconnect', () => interrupted.abort());
  process.channel?.unref();
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
  process.exitCode = exitCode === 130 ? interruptedCode : exitCode;
  // Exits after the output is written. Open connections and standard input would keep the process running.
  stdout.write('', () => process.exit());
}

void main();
