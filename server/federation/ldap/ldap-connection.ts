import { readFile } from 'node:fs/promises';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, getCACertificates } from 'node:tls';
import { Client } from 'ldapts';
import type { LdapSettings } from '../../../platform/settings/identity-settings.ts';
import { timeoutText } from '../../../platform/text/message-text.ts';

/**
 * A connection to the directory that never reconnects. After a lost connection the library would continue as an anonymous client and, after
 * StartTLS, without TLS.
 */
interface LdapConnection {
  readonly client: Client;
  close(): Promise<void>;
}

/** Milliseconds for the TCP connection, and for one answer. */
const timeout = 5_000;

/** Opens a connection. `ended` closes it at once, and pending calls fail. */
async function openLdapConnection(settings: LdapSettings, ended: AbortSignal): Promise<LdapConnection> {
  const { host, port, transport } = settings;
  const tls = transport === 'plain' ? undefined : await tlsOptions(settings);
  const sockets: Socket[] = [];
  const once = <T extends Socket>(connect: () => T, max: number): T => {
    if (sockets.length >= max) throw new Error('the connection was lost');
    ended.throwIfAborted();
    const socket = connect();
    sockets.push(socket);
    return socket;
  };
  const client = new Client({
    url: `${transport === 'tls' ? 'ldaps' : 'ldap'}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
    timeout,
    connectTimeout: timeout,
    strictDN: false,
    ...(transport === 'tls' && tls !== undefined ? { tlsOptions: tls } : {}),
    createConnection: () => once(() => connectPlain(port, host), 1),
    // StartTLS makes a second socket over the first one.
    createSecureConnection: ((...given: Parameters<typeof connectTls>) =>
      once(() => connectTls(...given), transport === 'tls' ? 1 : 2)) as typeof connectTls,
  });
  const destroy = () => {
    ended.removeEventListener('abort', destroy);
    for (const socket of sockets) socket.destroy();
  };
  ended.addEventListener('abort', destroy);
  if (transport === 'starttls' && tls !== undefined) {
    try {
      await client.startTLS(tls);
    } catch (error) {
      destroy();
      throw error;
    }
  }
  return {
    client,
    async close() {
      // An unbind can fail if the directory is gone.
      await client.unbind().catch(() => undefined);
      destroy();
    },
  };
}

/**
 * Runs `work` on a connection and closes it afterwards. The library may wait for ever on a closed connection, so the signal also ends the
 * wait.
 */
export async function connected<T>(
  settings: LdapSettings,
  ended: AbortSignal,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const over = Promise.withResolvers<never>();
  const end = () => over.reject(ended.reason);
  ended.addEventListener('abort', end);
  const worked = async () => {
    const connection = await openLdapConnection(settings, ended);
    try {
      return await work(connection.client);
    } finally {
      await connection.close();
    }
  };
  try {
    return await Promise.race([worked(), over.promise]);
  } catch (error) {
    throw isLate(error) ? new Error(`it did not answer within ${timeoutText(timeout)}`, { cause: error }) : error;
  } finally {
    ended.removeEventListener('abort', end);
  }
}

/** The library reports its timeouts by these messages alone, which do not name the time. */
function isLate(error: unknown): boolean {
  return error instanceof Error && /^(?:Connection timeout|\w+: Operation timed out)$/.test(error.message);
}

async function tlsOptions({ host, skipVerify, caFile }: LdapSettings): Promise<ConnectionOptions> {
  return {
    host,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: !skipVerify,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(caFile === undefined ? {} : { ca: [...getCACertificates('default'), await readFile(caFile, 'utf8')] }),
  };
}
