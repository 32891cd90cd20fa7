import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../harness/postgres.ts';
import { nodeAddress } from './start-cluster.ts';

export interface PostgresForPods {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE` of a new empty database, as pods reach it. */
  createDatabase(): Promise<{ readonly url: string; readonly password: string }>;
  remove(): Promise<void>;
}

/** A PostgreSQL of this machine at the node's address, which asks pods for their password (SCRAM). */
export async function startPostgresForPods(): Promise<PostgresForPods> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-pg-hba-'));
  const rules = join(folder, 'pg_hba.conf');
  // The networks of pods and of the node, as `up` makes them.
  const networks = ['127.0.0.1/32', '10.244.0.0/16', '10.245.0.0/24'];
  await writeFile(rules, networks.map((network) => `host all all ${network} scram-sha-256\n`).join(''));
  // Read by the user postgres.
  await chmod(folder, 0o755);
  await chmod(rules, 0o644);
  const server = await startPostgres({
    settings: { listen_addresses: `127.0.0.1,${nodeAddress}`, hba_file: rules, max_connections: '400' },
  });
  return {
    async createDatabase() {
      const { url, password } = await server.createDatabase();
      const reached = new URL(url);
      reached.hostname = nodeAddress;
      reached.password = password;
      return { url: reached.href, password };
    },
    async remove() {
      await server.remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
