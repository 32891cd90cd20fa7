import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestDatabase, type TestPostgres, startPostgres } from '../support/server/postgres.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

/** A PostgreSQL and a folder for blobs, over which a test starts servers. */
export interface Deployment {
  readonly postgres: TestPostgres;
  readonly database: TestDatabase;
  readonly blobs: string;
  /** Of a server over both. */
  readonly env: Readonly<Record<string, string>>;
  /** Ready, unless told not to wait. */
  start(env?: Readonly<Record<string, string>>, wait?: 'until ready' | 'until it listens'): Promise<RunningServer>;
  /** Ends every server that still runs, and PostgreSQL. */
  remove(): Promise<void>;
}

export async function newDeployment(): Promise<Deployment> {
  const [postgres, folder] = await Promise.all([startPostgres(), mkdtemp(join(tmpdir(), 'coffer-replicas-'))]);
  const database = await postgres.createDatabase();
  const blobs = join(folder, 'blobs');
  await mkdir(blobs);
  const started = new Set<RunningServer>();
  const env = {
    SVC_STORE_RECORDS: database.url,
    SVC_STORE_RECORDS_PASSWORD: database.password,
    SVC_STORE_BLOBS: `files:${blobs}`,
    SVC_THREADS: '2',
  };
  return {
    postgres,
    database,
    blobs,
    env,
    async start(more = {}, wait = 'until ready') {
      const server = await startServer({ env: { ...env, ...more }, folder: join(folder, 'not-used') });
      started.add(server);
      if (wait === 'until ready') await untilReady(server, 60_000);
      return server;
    },
    async remove() {
      await Promise.all([...started].map((server) => server.kill()));
      await postgres.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
