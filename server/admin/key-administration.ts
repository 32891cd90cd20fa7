import type { KeySource } from '../encryption/key-source.ts';

/**
 * The keys as administrators use them. Each call rejects with an error whose `code` is one of the key-service protocol (`key-exists`,
 * `not-permitted`, `not-supported`, …).
 */
export interface KeyAdministration {
  /** What keeps the keys, as `mc admin kms status` shows it. */
  readonly name: string;
  /** None where the key is the server's own. */
  readonly endpoints: readonly string[];
  readonly source: KeySource;
  createKey(name: string): Promise<void>;
  /** 32 bytes of an AES-256 key from elsewhere. */
  importKey(name: string, bytes: Buffer): Promise<void>;
  /** Gives a key a new version, by which is encrypted from now on; its ID. */
  rotateKey(name: string): Promise<string>;
  /** Names that begin with the prefix, sorted. */
  listKeys(prefix: string): Promise<readonly string[]>;
  /** For ever: whatever is encrypted with it is lost. */
  deleteKey(name: string): Promise<void>;
}
