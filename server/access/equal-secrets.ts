import { timingSafeEqual } from 'node:crypto';

/** Compares in a time that tells nothing of either but its length, which everyone knows of keys and tokens. */
export function equalSecrets(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}
