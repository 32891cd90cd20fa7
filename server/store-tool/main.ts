import { constants } from 'node:os';
import { failOnLostOutput } from '../../platform/output/standard-output.ts';
import { fail, run } from './program.ts';

/** Milliseconds. Two signals within this time count as one. */
const sameWishMs = 1_000;

const interrupted = new AbortController();
let askedAt = Infinity;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // A call of a file server that is away may never return. The terminal and the launcher both send a signal.
    if (performance.now() - askedAt > sameWishMs) process.exit(128 + constants.signals[signal]);
    askedAt = Math.min(askedAt, performance.now());
    interrupted.abort(new Error(`interrupted by ${signal}`));
  });
}
// The channel closes when the launcher dies, even by SIGKILL.
if (process.env['COFFER_EXIT_WITH_PARENT'] === '1' && process.channel !== null) {
  process.on('disconnect', () => interrupted.abort(new Error('the launcher is gone')));
  process.channel?.unref();
}
failOnLostOutput('coffer-store');

const { stdout, stderr, env } = process;
const io = { stdout, stderr, env, signal: interrupted.signal };
const words = process.argv.slice(2);
// Records that fail amid a commit end the thread: nothing more may be read from them or written to them.
process.once('uncaughtException', (error) => process.exit(fail(error, io, words.includes('--json'))));
process.exitCode = await run(words, io);
stdout.write('', () => process.exit());
