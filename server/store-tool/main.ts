import { run } from './program.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => interrupted.abort(new Error(`interrupted by ${signal}`)));
}
// The channel closes when the launcher dies, even by SIGKILL.
if (process.env['COFFER_EXIT_WITH_PARENT'] === '1' && process.channel !== null) {
  process.on('disconnect', () => interrupted.abort(new Error('the launcher is gone')));
  process.channel?.unref();
}
// `coffer-store verify … | head` closes the pipe, so no reader is left.
process.stdout.on('error', () => process.exit(1));

const { stdout, stderr, env } = process;
process.exitCode = await run(process.argv.slice(2), { stdout, stderr, env, signal: interrupted.signal });
stdout.write('', () => process.exit());
