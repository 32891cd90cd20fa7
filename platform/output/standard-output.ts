import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { fileErrorReason } from '../errors/system-error.ts';

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

let opened: number | undefined;

/**
 * Writes to standard output and returns the count of bytes that were written, which may be a part of them. It never waits for a reader of a pipe, a
 * terminal or a socket: such a call throws EAGAIN.
 */
export function writeWithoutWaiting(bytes: Buffer): number {
  opened ??= openWithoutWaiting();
  return writeSync(opened, bytes);
}

/**
 * Opens the pipe or terminal of standard output anew, since other processes share the flags of the one that is open. A socket, for instance that
 * of the journal, cannot be opened anew. `failOnLostOutput` has made Node set the flag there, and that of a pipe that belongs to another user.
 */
function openWithoutWaiting(): number {
  if (!isatty(1) && !fstatSync(1).isFIFO()) return 1;
  try {
    return openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return 1;
  }
}
