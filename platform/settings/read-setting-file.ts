import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { nulByte, secretText, withoutLineEnd } from './setting-text.ts';

const maxBytes = 1024 * 1024;
const chunkBytes = 64 * 1024;

/**
 * Reads a file of settings or a secret without the mark with which editors of Windows begin a file. It may be a pipe, as of a shell's `<(…)`.
 *
 * @throws Error if it cannot be read, has more than 1 MiB, such as a device without an end, or is not UTF-8
 */
export function readSettingFile(path: string): string {
  const file = openSync(path, 'r');
  try {
    const content = new Content();
    while (content.add(readSync(file, content.free(), 0, chunkBytes, null)));
    return content.text();
  } finally {
    closeSync(file);
  }
}

/** Does the same as `readSettingFile` without blocking the thread, for a file that is read while the program serves. */
export async function readTextFile(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const content = new Content();
    while (content.add((await file.read(content.free(), 0, chunkBytes, null)).bytesRead));
    return content.text();
  } finally {
    await file.close();
  }
}

/**
 * Reads the secret in a file, without what ends its line.
 *
 * @throws Error as `readTextFile` does, and with the reason why the secret cannot be meant
 */
export async function readSecretFile(path: string): Promise<string> {
  const text = await readTextFile(path);
  try {
    return secretText(text);
  } catch (error) {
    throw new Error(`it ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Reads the first line of a file, a password.
 *
 * @throws Error as `readSecretFile` does
 */
export async function readSecretLine(path: string): Promise<string> {
  const [line = ''] = (await readTextFile(path)).split(/\r?\n/, 1);
  try {
    return secretText(line);
  } catch (error) {
    throw new Error(`its first line ${(error as Error).message}`, { cause: error });
  }
}

/** Reads the token in a file. No token begins or ends with a blank. @throws Error as `readTextFile` does */
export async function readTokenFile(path: string): Promise<string> {
  const text = await readTextFile(path);
  if (text.includes('\0')) throw new Error(`it has ${nulByte}`);
  return withoutLineEnd(text).trim();
}

/** Returns the text of a document, without its mark. @throws Error if it is not UTF-8 */
export function settingTextOf(bytes: Buffer): string {
  // Each byte of another encoding would become the same character, in silence.
  if (!isUtf8(bytes)) throw new Error('it is not UTF-8: save it in that encoding');
  return bytes.toString('utf8').replace(/^\uFEFF/, '');
}

class Content {
  readonly #chunks: Buffer[] = [];
  #next = Buffer.alloc(0);
  #length = 0;

  free(): Buffer {
    this.#next = Buffer.alloc(chunkBytes);
    return this.#next;
  }

  /** Takes bytes that were read. Returns false at the end of the file. */
  add(bytes: number): boolean {
    this.#chunks.push(this.#next.subarray(0, bytes));
    this.#length += bytes;
    if (this.#length > maxBytes) throw new Error('it has more than 1 MiB: is it the right file?');
    return bytes > 0;
  }

  text(): string {
    return settingTextOf(Buffer.concat(this.#chunks));
  }
}
