import { Connection, type Client } from 'pg';
import { type PostgresAddress } from '../../../platform/store-address/postgres-address.ts';
import { tlsOptions } from './tls-options.ts';

/** Fields and events of pg that its types do not have. */
interface SessionKey {
  readonly processID: number | null;
  readonly secretKey: number | null;
}
const CancelConnection = Connection as unknown as new (config: object) => Connection & {
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
};

/**
 * Asks the server, by a connection of its own, to cancel the statement that the session runs. It never rejects: without an answer within
 * `timeoutMs` it gives up, and the server ends the statement when it can.
 *
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
export async function cancelStatements(address: PostgresAddress, session: Client, timeoutMs: number): Promise<void> {
  const { processID, secretKey } = session as unknown as SessionKey;
  if (processID === null || secretKey === null) return;
  const done = Promise.withResolvers<void>();
  const late = setTimeout(done.resolve, timeoutMs);
  late.unref();
  let connection;
  try {
    const ssl = tlsOptions(address.tls);
    const request = new CancelConnection({ ssl });
    connection = request;
    const cancel = () => request.cancel(processID, secretKey);
    request.on('connect', () => (ssl === false ? cancel() : request.requestSsl()));
    request.on('sslconnect', cancel);
    connection.on('error', () => done.resolve());
    // The server closes the connection without an answer.
    connection.on('end', () => done.resolve());
    if (address.host.startsWith('/')) connection.connect(`${address.host}/.s.PGSQL.${address.port}`);
    else connection.connect(address.port, address.host);
    await done.promise;
  } catch {
    // A certificate file cannot be read.
  } finally {
    clearTimeout(late);
    connection?.stream.destroy();
  }
}
