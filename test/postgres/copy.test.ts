import { afterAll, beforeAll, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';
import { expectRoundTrip } from '../store-tool/run-store-tool.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.remove());

it('copies a data folder to PostgreSQL and a shared folder, and back', { timeout: 360_000 }, async () => {
  const { url, password } = await postgres.createDatabase();
  await expectRoundTrip(
    [`SVC_STORE_RECORDS=${url}`, `SVC_STORE_RECORDS_PASSWORD=${password}`, 'SVC_STORE_BLOBS=files:$FOLDER'],
    { shared: true },
  );
});
