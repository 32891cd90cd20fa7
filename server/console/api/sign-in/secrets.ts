import { createHash, randomBytes } from 'node:crypto';

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
