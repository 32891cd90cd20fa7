import { StoreUnavailable } from '../../store/record-store.ts';
import { isStoreError } from '../../store/store-error.ts';

/** The stores or the key service are away, or another server has the lease: another round goes on. */
export function isOfTheStores(error: unknown): boolean {
  if (error instanceof StoreUnavailable || isStoreError(error, 'lease-lost')) return true;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return (
    code === 'unavailable' || code === 'ServiceUnavailable' || (error instanceof Error && error.name === 'AbortError')
  );
}
