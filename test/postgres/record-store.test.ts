import { pino } from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { openPostgresRecordStore } from '../../server/store/postgres/record-store.ts';
import { describeRecordStore } from '../support/store/record-store.conformance.ts';
import { startPostgres, type TestDatabase, type TestPostgres } from '../support/server/postgres.ts';

const log = pino({ enabled: false });
let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());

let database: TestDatabase;
describeRecordStore('postgres', {
  open: async () => {
    database = await server.createDatabase();
    return openPostgresRecordStore({ ...database, log });
  },
  another: () => openPostgresRecordStore({ ...database, log }),
});
