import { StoreUnavailable } from './record-store.ts';

export function closed(store: 'record' | 'blob'): StoreUnavailable {
  return new StoreUnavailable('closed', `the ${store} store is closed`);
}
