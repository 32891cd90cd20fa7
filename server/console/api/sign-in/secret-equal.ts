import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Compares two secrets in a time that tells nothing about where, or in which length, they differ. */
export function secretEqual(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

/** What is kept of a random secret: enough to find it again, useless to whoever reads it. Hexadecimal. */
export function hashOf(secret: string): string {
  return digest(secret).toString('hex');
}

/** 256 random bits that fit into cookies and URLs. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
