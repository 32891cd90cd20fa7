import { readFile } from 'node:fs/promises';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, getCACertificates } from 'node:tls';
import { Client } from 'ldapts';
import type { LdapSettings } from '../../../platform/settings/identity-settings.ts';

/**
 * One connection to the directory, which is never made again by itself: the library would go on after a lost connection as nobody,
 * and, after StartTLS, without TLS.
 */
interface LdapConnection {
  readonly client: Client;
  close(): Promise<void>;
}

/** Of TCP and of one answer. Milliseconds. */
const timeout = 5_000;

/** `ended` cuts it off, whatever it is doing; what is under way then fails. */
async function openLdapConnection(settings: LdapSettings, ended: AbortSignal): Promise<LdapConnection> {
  const { host, port, transport } = settings;
  const tls = transport === 'plain' ? undefined : await tlsOptions(settings);
  const sockets: Socket[] = [];
  const once = <T extends Socket>(connect: () => T, most: number): T => {
    if (sockets.length >= most) throw new Error('the connection was lost');
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
    // By StartTLS it is the second socket, over the first.
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
      // A directory that is gone need not be told.
      await client.unbind().catch(() => undefined);
      destroy();
    },
  };
}

/** Does work on a connection that is closed after it. The library may wait for a connection that was cut off: the signal ends the waiting, too. */
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
  } finally {
    ended.removeEventListener('abort', end);
  }
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
