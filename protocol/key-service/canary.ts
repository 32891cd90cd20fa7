import { z } from 'zod';

/**
 * The canary of a key: a random data key that the key has sealed, and the digest of its plaintext. A service that opens it has the key. A server
 * makes one for each version of a key before it seals anything under it; see docs/decisions/0072-canaries-of-keys.md.
 */
export const keyCanary = z.object({
  /** The ID of the version that sealed it; absent if the key service tells none. */
  version: z.string().optional(),
  /** Base64. */
  ciphertext: z.base64(),
  /** The SHA-256 of the plaintext in hexadecimal digits. It reveals nothing, since the plaintext is 32 random bytes. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
});

export type KeyCanary = z.infer<typeof keyCanary>;

/** The canaries of one key. */
export const keyCanaries = z.object({ key: z.string(), canaries: z.array(keyCanary).readonly() });

export type KeyCanaries = z.infer<typeof keyCanaries>;

/** The context with which a canary is sealed. No data has it, so that a canary opens nothing else. */
export function canaryContext(keyName: string): Readonly<Record<string, string>> {
  return { 'coffer:canary': keyName };
}

/** The bytes that the key service takes as the context of a canary. Names of keys need no escapes. */
export function canaryContextBytes(keyName: string): Buffer {
  return Buffer.from(JSON.stringify(canaryContext(keyName)));
}
