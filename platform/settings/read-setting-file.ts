import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';

const maxBytes = 1024 * 1024;

/**
 * Reads a file of settings or a secret. It may be a pipe, as of a shell's `<(…)`.
 *
 * @throws Error if it cannot be read, has more than 1 MiB, such as a device without an end, or is not UTF-8
 */
export function readSettingFile(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (;;) {
      const read = readSync(file, bytes, length, bytes.length - length, null);
      length += read;
      if (length > maxBytes) throw new Error('it has more than 1 MiB: is it the right file?');
      if (read > 0) continue;
      // Each byte of another encoding would become the same character, in silence.
      if (!isUtf8(bytes.subarray(0, length))) throw new Error('it is not UTF-8: save it in that encoding');
      return bytes.toString('utf8', 0, length);
    }
  } finally {
    closeSync(file);
  }
}
