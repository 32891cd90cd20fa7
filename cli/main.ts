import { enableCompileCache } from 'node:module';

// Before anything else is imported, since starting is most of what a short command does.
enableCompileCache();
const { run } = await import('./program.ts');

const interrupted = new AbortController();
let interruptedAt: number | undefined;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    const now = performance.now();
    // The launcher forwards what the terminal also sent here: at once it is the same wish, later it is impatience.
    if (interruptedAt !== undefined && now - interruptedAt > 500) process.exit(130);
    interruptedAt ??= now;
    interrupted.abort();
  });
}

// The launcher's death, even by SIGKILL, closes the channel.
if (process.env['COFFER_EXIT_WITH_PARENT'] === '1' && process.channel !== null) {
  process.on('disconnect', () => interrupted.abort());
  process.channel?.unref();
}

// `coffer ls … | head` closes the pipe: nobody is left to tell.
process.stdout.on('error', () => process.exit(1));

const { stdin, stdout, stderr, env } = process;
process.exitCode = await run(process.argv.slice(2), { stdin, stdout, stderr, env, signal: interrupted.signal });
// Connections that are kept, and standard input, would keep the process alive; what is written must still get out.
stdout.write('', () => process.exit());
