import { createHash } from 'node:crypto';

/** The bytes of an object by their hash, or that there is none. */
export type Content = string | undefined;

export function contentOf(bytes: Uint8Array): string {
  return `${bytes.length} bytes, SHA-256 ${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Who is told what clients ask for and are answered. One writer at a time changes a key. */
export interface Witness {
  /** A request is on its way: from now on the server may show either. */
  begin(key: string, content: Content): void;
  acknowledge(key: string): void;
  /** The server refused: nothing was changed. */
  refuse(key: string): void;
}
