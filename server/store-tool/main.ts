import { failOnLostOutput } from '../../platform/standard-output.ts';
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
failOnLostOutput('coffer-store');

const { stdout, stderr, env } = process;
process.exitCode = await run(process.argv.slice(2), { stdout, stderr, env, signal: interrupted.signal });
stdout.write('', () => process.exit());
