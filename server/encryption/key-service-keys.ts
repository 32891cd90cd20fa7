import type { KeySource } from './key-source.ts';

/** What is needed of `platform`'s key-service client. Contexts are bytes; failures carry a `code` of the protocol. */
export interface KeyServiceCalls {
  generateKey(
    name: string,
    context: Buffer,
  ): Promise<{ readonly plaintext: Buffer; readonly ciphertext: Buffer; readonly version?: string | undefined }>;
  decryptKey(name: string, ciphertext: Buffer, context: Buffer): Promise<Buffer>;
  createKey(name: string): Promise<void>;
}

export interface KeyServiceKeysOptions {
  readonly defaultKey: string;
  /** Milliseconds since 1970; `Date.now` by default. */
  readonly clock?: () => number;
}

export function keyServiceKeys(_client: KeyServiceCalls, _options: KeyServiceKeysOptions): KeySource {
  throw new Error('not yet');
}
