import { KeySourceError } from '../encryption/key-source.ts';
import { StoreUnavailable } from '../store/record-store.ts';

/** Whether identities cannot be read or written just now, so that asking again later may help. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof StoreUnavailable || (error instanceof KeySourceError && error.code === 'unavailable');
}
