import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Compares two secrets in constant time, whatever their lengths. */
export function secretEqual(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

/** The hexadecimal hash under which a random secret is stored. It does not reveal the secret. */
export function hashOf(secret: string): string {
  return digest(secret).toString('hex');
}

/** Returns 256 random bits for cookies and URLs. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
