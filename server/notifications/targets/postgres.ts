import { Client, escapeIdentifier } from 'pg';
import { connectedTarget } from '../connected-target.ts';
import { type NotificationTarget, removesObject, type TargetValues, textOf } from '../target.ts';

/** Milliseconds for a statement: less than an event has. */
const statementMs = 8_000;

/**
 * Keeps the last event of each object in a row (`namespace`), or inserts a row for each event (`access`), in tables as MinIO makes them.
 */
export function openPostgres(values: TargetValues): NotificationTarget {
  const table = (textOf(values, 'table') ?? '').split('.').map(escapeIdentifier).join('.');
  const isNamespace = textOf(values, 'format') !== 'access';
  return connectedTarget<Client>({
    async connect(givenUp) {
      const client = new Client({
        ...connectionOf(textOf(values, 'connection_string') ?? ''),
        connectionTimeoutMillis: 5_000,
      });
      // Without a listener an error of an idle connection would end the process. Queries reject with it too.
      client.on('error', () => undefined);
      const end = () => void client.end().catch(() => undefined);
      givenUp.addEventListener('abort', end);
      try {
        await client.connect();
        // The process of a connection that was closed goes on waiting for a lock, and keeps its place in max_connections.
        await client.query(`SET statement_timeout = ${statementMs}`);
        const columns = isNamespace
          ? 'key VARCHAR PRIMARY KEY, value JSONB'
          : 'event_time TIMESTAMP WITH TIME ZONE NOT NULL, event_data JSONB';
        await client.query(`CREATE TABLE IF NOT EXISTS ${table} (${columns})`);
      } catch (error) {
        end();
        throw error;
      } finally {
        givenUp.removeEventListener('abort', end);
      }
      return client;
    },
    async send(client, { name, key, time, record }) {
      if (record === undefined) {
        // A test event says only that the connection works.
        await client.query('SELECT 1');
        return;
      }
      const document = JSON.stringify({ Records: [record] });
      if (!isNamespace) {
        await client.query(`INSERT INTO ${table} (event_time, event_data) VALUES ($1, $2)`, [time, document]);
      } else if (removesObject(name)) {
        await client.query(`DELETE FROM ${table} WHERE key = $1`, [key]);
      } else {
        const update = 'ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value';
        await client.query(`INSERT INTO ${table} (key, value) VALUES ($1, $2) ${update}`, [key, document]);
      }
    },
    close: (client) => client.end(),
  });
}

/** Reads a URL, or the form `host=… port=… user=…` of libpq, which MinIO's deployments use. */
export function connectionOf(text: string): ConstructorParameters<typeof Client>[0] & object {
  if (/^postgres(?:ql)?:/.test(text)) return { connectionString: text };
  const pairs = [...text.matchAll(/(\w+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|(\S+))/g)].map(
    ([, name = '', quoted, bare]) => [name, quoted?.replaceAll(/\\(.)/g, '$1') ?? bare ?? ''] as const,
  );
  const { host, port, user, password, dbname, sslmode } = Object.fromEntries(pairs);
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port: Number(port) }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(dbname !== undefined && { database: dbname }),
    ...(sslmode !== undefined &&
      sslmode !== 'disable' && { ssl: { rejectUnauthorized: sslmode.startsWith('verify') } }),
  };
}
