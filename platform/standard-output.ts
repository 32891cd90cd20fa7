import { writeSync } from 'node:fs';
import { fileErrorReason } from './system-error.ts';

/**
 * Ends the program with status 1 and the reason if its standard output cannot be written: the disk is full, or the reader of a pipe is gone.
 * Without it a program that ends at once after its output succeeds although nothing was written. A closed pipe needs no message: `… | head`.
 */
export function failOnLostOutput(program: string): void {
  let emitted: Error | undefined;
  process.stdout.on('error', (error) => {
    // Node forgets the error of the stream after this event.
    emitted = error;
    process.exit(1);
  });
  // A write that fails is known before its error is emitted, and the program may end in between.
  process.on('exit', (code) => {
    const error = emitted ?? process.stdout.errored;
    if (error === null) return;
    if (code === 0) process.exitCode = 1;
    if ('code' in error && error.code === 'EPIPE') return;
    try {
      writeSync(process.stderr.fd, `${program}: standard output cannot be written: ${fileErrorReason(error)}\n`);
    } catch {
      // Standard error is on the same full disk.
    }
  });
}
