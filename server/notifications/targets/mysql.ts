import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { type Connection, type ConnectionOptions, createConnection, escapeId } from 'mysql2/promise';
import { connectedTarget } from '../connected-target.ts';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import { ofOneEvent } from '../sql-refusal.ts';
import { type NotificationTarget, rowAfter, type TargetValues, textOf } from '../target.ts';

/** Seconds for a lock: less than an event has. */
const lockSeconds = 8;

/**
 * Keeps the last event of each object in a row (`namespace`), or inserts a row for each event (`access`), in tables with the columns of
 * MinIO's. It works with MariaDB too, which has no primary key that is computed.
 */
export function openMysql(values: TargetValues): NotificationTarget {
  const table = escapeId(textOf(values, 'table') ?? '');
  const isNamespace = textOf(values, 'format') !== 'access';
  return connectedTarget<Connection>({
    async connect(givenUp) {
      const caFile = textOf(values, 'ca_file');
      const { hasTls, ...options } = connectionOf(textOf(values, 'dsn_string') ?? '');
      if (caFile !== undefined && !hasTls)
        throw new DeliveryError('unavailable', 'CA_FILE is set, and the DSN has no tls=true');
      const connection = await createConnection({
        ...options,
        charset: 'utf8mb4',
        connectTimeout: 5_000,
        ...(hasTls && {
          ssl: { verifyIdentity: true, ...(caFile !== undefined && { ca: await readFile(caFile, 'utf8') }) },
        }),
      });
      // Without a listener an error of an idle connection would end the process. Queries reject with it too.
      connection.on('error', () => undefined);
      const end = () => connection.destroy();
      givenUp.addEventListener('abort', end);
      try {
        givenUp.throwIfAborted();
        // A session whose connection was closed may wait for a lock for a year.
        await connection.query(
          `SET SESSION lock_wait_timeout = ${lockSeconds}, innodb_lock_wait_timeout = ${lockSeconds}`,
        );
        await connection.query(
          `CREATE TABLE IF NOT EXISTS ${table} (${isNamespace ? namespaceColumns : accessColumns}`,
        );
      } catch (error) {
        end();
        throw error;
      } finally {
        givenUp.removeEventListener('abort', end);
      }
      return connection;
    },
    async send(connection, message) {
      const { key, time, record } = message;
      if (record === undefined) {
        // A test event says only that the connection works.
        await connection.ping();
        return;
      }
      if (!isNamespace) {
        const document = JSON.stringify({ Records: [record] });
        const insert = `INSERT INTO ${table} (event_time, event_data) VALUES (?, ?)`;
        await ofOneEvent(connection.execute(insert, [time.slice(0, 19).replace('T', ' '), document]), stateOf);
        return;
      }
      const row = rowAfter(message);
      if (row === 'removed')
        await ofOneEvent(connection.execute(`DELETE FROM ${table} WHERE key_hash = SHA2(?, 256)`, [key]), stateOf);
      // An event that changes nothing says whether the target is there.
      else if (row === 'unchanged') await connection.ping();
      else {
        const document = JSON.stringify({ Records: [row] });
        const update = 'ON DUPLICATE KEY UPDATE value = VALUES(value)';
        const insert = `INSERT INTO ${table} (key_name, value) VALUES (?, ?) ${update}`;
        await ofOneEvent(connection.execute(insert, [key, document]), stateOf);
      }
    },
    close: (connection) => connection.destroy(),
  });
}

function stateOf(error: Error): string | undefined {
  return 'sqlState' in error && typeof error.sqlState === 'string' ? error.sqlState : undefined;
}

const namespaceColumns = `
  key_name VARCHAR(3072) NOT NULL,
  key_hash CHAR(64) GENERATED ALWAYS AS (SHA2(key_name, 256)) STORED,
  value JSON,
  UNIQUE KEY (key_hash)
) CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin ROW_FORMAT = Dynamic`;
const accessColumns = 'event_time DATETIME NOT NULL, event_data JSON) ROW_FORMAT = Dynamic';

/**
 * Reads `USER:PASSWORD@tcp(HOST:PORT)/DATABASE?tls=true`, the form of MinIO's deployments, or a URL of the scheme `mysql`.
 *
 * @see https://github.com/go-sql-driver/mysql#dsn-data-source-name
 */
export function connectionOf(text: string): ConnectionOptions & { readonly hasTls: boolean } {
  const { user, password, host, port, database, query } = text.startsWith('mysql://') ? ofUrl(text) : ofName(text);
  const parameters = new URLSearchParams(query);
  const tls = parameters.get('tls') ?? 'false';
  parameters.delete('tls');
  const [unknown] = parameters.keys();
  if (unknown !== undefined)
    throw new DeliveryError('unavailable', `the DSN has the parameter ${unknown}: only tls may be there`);
  if (tls !== 'true' && tls !== 'false')
    throw new DeliveryError('unavailable', `the DSN has tls=${tls}: use true or false`);
  const hasTls = tls === 'true';
  // The client compares a certificate with names alone.
  if (hasTls && isIP(host) !== 0)
    throw new DeliveryError('unavailable', `the DSN has tls=true and the address ${host}: give the name of the host`);
  return { user, password, host, port: Number(port), database, hasTls };
}

function ofUrl(text: string) {
  // The error of a wrong URL would have the password.
  if (!URL.canParse(text))
    throw new DeliveryError('unavailable', 'the DSN is not mysql://USER:PASSWORD@HOST:PORT/DATABASE');
  const { username, password, hostname, port, pathname, search } = new URL(text);
  return {
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? '3306' : port,
    database: decodeURIComponent(pathname.slice(1)),
    query: search.slice(1),
  };
}

function ofName(text: string) {
  // The last @ and the last / before the parameters separate: a password may contain both.
  const parts = /^(?:(?<account>.*)@)?tcp\((?<address>[^()]*)\)\/(?<database>[^/?]*)(?:\?(?<query>.*))?$/s.exec(
    text,
  )?.groups;
  if (parts === undefined)
    throw new DeliveryError('unavailable', 'the DSN is not USER:PASSWORD@tcp(HOST:PORT)/DATABASE');
  const { account = '', address = '', database = '', query = '' } = parts;
  const [user = '', ...password] = account.split(':');
  const [, host = '', port = '3306'] = /^(.*?)(?::(\d+))?$/.exec(address) ?? [];
  return { user, password: password.join(':'), host: host.replace(/^\[(.*)\]$/, '$1'), port, database, query };
}
