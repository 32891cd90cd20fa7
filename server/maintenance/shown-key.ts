import { decodeKey, InvalidKey } from '../store/keys.ts';
import type { Key } from '../store/record-store.ts';

/** A record's key for people: its parts in JSON, or its bytes where it is no key of ours. */
export function shownKey(key: Key): string {
  try {
    return JSON.stringify(decodeKey(key).map(String));
  } catch (error) {
    if (error instanceof InvalidKey) return key.toString('hex');
    throw error;
  }
}
