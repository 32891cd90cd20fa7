import { createCipheriv, createDecipheriv } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { freeNow } from './free-now.ts';

const [key, nonce] = [Buffer.alloc(32), Buffer.alloc(12)];

describe('freeNow', () => {
  // A Node that took small results from its pool of buffers would have what others hold freed with them.
  it.each([1, 15, 16, 100, 4_096, 32_767, 65_536, 100_000])(
    'may be given what a cipher returns: %d bytes have memory of their own',
    (length) => {
      const ciphers = [createCipheriv('aes-256-gcm', key, nonce), createDecipheriv('aes-256-gcm', key, nonce)];
      for (const cipher of ciphers) expect(cipher.update(Buffer.alloc(length)).buffer.byteLength).toBe(length);
    },
  );

  it('leaves nothing of it', () => {
    const bytes = createCipheriv('aes-256-gcm', key, nonce).update(Buffer.alloc(100));
    freeNow(bytes.subarray(10));
    expect(bytes).toHaveLength(0);
  });
});
