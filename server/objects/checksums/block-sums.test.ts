import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Gmac } from './block-sums.ts';

function gmac(...chunks: readonly Buffer[]): string {
  const mac = new Gmac();
  for (const chunk of chunks) mac.update(chunk);
  return mac.digest();
}

describe('the authentication code of stored bytes', () => {
  it('is that of AES-128-GCM with these as the additional data', () => {
    const bytes = randomBytes(1000);
    const cipher = createCipheriv('aes-128-gcm', Buffer.alloc(16), Buffer.alloc(12));
    cipher.setAAD(bytes);
    cipher.final();
    expect(gmac(bytes)).toBe(cipher.getAuthTag().toString('base64'));
  });

  it('does not depend on how the bytes are cut', () => {
    const bytes = randomBytes(100_003);
    expect(gmac(bytes.subarray(0, 7), bytes.subarray(7, 70_000), bytes.subarray(70_000))).toBe(gmac(bytes));
  });

  it('tells a changed bit, swapped blocks and a missing end', () => {
    const bytes = randomBytes(4096);
    const changed = Buffer.from(bytes);
    changed[4000] = (changed[4000] ?? 0) ^ 1;
    const swapped = Buffer.concat([bytes.subarray(16, 32), bytes.subarray(0, 16), bytes.subarray(32)]);
    const macs = [bytes, changed, swapped, bytes.subarray(0, 4095)].map((each) => gmac(each));
    expect(new Set(macs).size).toBe(4);
  });
});
