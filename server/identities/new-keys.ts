import { randomBytes, randomInt } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** 20 of 36 characters: 103 random bits. */
export function newAccessKey(): string {
  return Array.from({ length: 20 }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
}

/** 40 characters of base64; without `/`, which some clients forget to escape. */
export function newSecretKey(): string {
  return randomBytes(30).toString('base64').replaceAll('/', '+');
}
