import type { Logger } from '../../../platform/logger.ts';
import type { RecordStore } from '../record-store.ts';
import { StoreUnavailable } from '../record-store.ts';

export interface PostgresOptions {
  /** `postgres://USER@HOST:PORT/DATABASE?OPTIONS`, without a password. */
  readonly url: string;
  readonly password?: string;
  readonly log: Logger;
  /** Connections of this handle; a server has one handle for each thread. 8 by default. */
  readonly connections?: number;
}

export function openPostgresRecordStore(_options: PostgresOptions): Promise<RecordStore> {
  return Promise.reject(new StoreUnavailable('unreachable', 'not built yet'));
}
