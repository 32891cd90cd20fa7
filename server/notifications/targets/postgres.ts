import { Client, DatabaseError, escapeIdentifier } from 'pg';
import { connectedTarget } from '../connected-target.ts';
import { connectionOf } from './postgres-connection.ts';
import { ofOneEvent } from '../sql-refusal.ts';
import { type NotificationTarget, rowAfter, type TargetValues, textOf } from '../target.ts';

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
      const client = new Client(
        await connectionOf(textOf(values, 'connection_string') ?? '', textOf(values, 'ca_file')),
      );
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
    async send(client, message) {
      const { key, time, record } = message;
      if (record === undefined) {
        // A test event says only that the connection works.
        await client.query('SELECT 1');
        return;
      }
      if (!isNamespace) {
        const document = JSON.stringify({ Records: [record] });
        const insert = `INSERT INTO ${table} (event_time, event_data) VALUES ($1, $2)`;
        await ofOneEvent(client.query(insert, [time, document]), stateOf);
        return;
      }
      const row = rowAfter(message);
      if (row === 'removed') await ofOneEvent(client.query(`DELETE FROM ${table} WHERE key = $1`, [key]), stateOf);
      // An event that changes nothing says whether the target is there.
      else if (row === 'unchanged') await client.query('SELECT 1');
      else {
        const document = JSON.stringify({ Records: [row] });
        const update = 'ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value';
        const insert = `INSERT INTO ${table} (key, value) VALUES ($1, $2) ${update}`;
        await ofOneEvent(client.query(insert, [key, document]), stateOf);
      }
    },
    close: (client) => client.end(),
  });
}

function stateOf(error: Error): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}
