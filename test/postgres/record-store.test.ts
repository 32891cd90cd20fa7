import { pino } from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { openPostgresRecordStore } from '../../server/store/postgres/postgres-record-store.ts';
import { describeRecordStore } from '../../server/store/record-store.conformance.ts';
import { startPostgres, type TestPostgres } from '../harness/postgres.ts';

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());

describeRecordStore('postgres', {
  open: async () => openPostgresRecordStore({ ...(await server.createDatabase()), log: pino({ enabled: false }) }),
});
