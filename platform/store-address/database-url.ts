/** A server of an address. */
export interface DatabaseHost {
  /** A name, an IP without brackets, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

/** The parts of `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?OPTIONS`. */
interface DatabaseUrl {
  readonly user: string;
  /** As it is written, with `%`. */
  readonly password: string;
  readonly hosts: readonly DatabaseHost[];
  readonly database: string;
  readonly options: URLSearchParams;
}

/** The options of an address. All but the last are libpq's. */
export const databaseOptions = [
  'host',
  'target_session_attrs',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'channel_binding',
  'require_auth',
  'connect_timeout',
  'keepalives',
  'keepalives_idle',
  'options',
  'application_name',
  'trust_fsync_off',
] as const;

/** An option with its value, which may have an @. */
const knownOption = new RegExp(`(?<=[?&])(?:password|${databaseOptions.join('|')})=[^&#]*`, 'gu');

/**
 * Returns the parts of an address, whose host may be a list, as WHATWG has none. Undefined for another form. A password with a raw `?`, `/` or `#` ends
 * the authority, so that its rest looks like a path or an option: such an address has an @ or a # behind, and is refused as a whole. No
 * part of a refused one may be shown.
 */
export function parseDatabaseUrl(text: string): DatabaseUrl | undefined {
  const parts = /^postgres(?:ql)?:\/\/([^/?#]*@)?([^/?#@]*)([^?#]*)(.*)$/su.exec(text);
  if (parts === null) return undefined;
  const [, userinfo = '', hostList = '', path = '', query = ''] = parts;
  if (path.includes('@') || /[@#]/u.test(query.replaceAll(knownOption, ''))) return undefined;
  const hosts = hostList.split(',').map((host) => URL.parse(`postgres://${host}/`));
  const url = URL.parse(`postgres://${userinfo}host${path}${query}`);
  if (url === null) return undefined;
  const [first] = hosts;
  const parsed: DatabaseHost[] = [];
  for (const host of hosts) {
    if (host === null || (hosts.length > 1 && host.hostname === '')) return undefined;
    parsed.push({
      host: host.hostname.replace(/^\[(.*)\]$/u, '$1'),
      port: host.port === '' ? 5432 : Number(host.port),
    });
  }
  // The folder of a Unix socket has slashes, so it is an option.
  const socket = url.searchParams.get('host');
  const [user, database] = [decoded(url.username), decoded(url.pathname.slice(1))];
  if (user === undefined || database === undefined) return undefined;
  return {
    user,
    password: url.password,
    hosts: socket === null ? parsed : [{ host: socket, port: first?.port === '' ? 5432 : Number(first?.port) }],
    database,
    options: url.searchParams,
  };
}

/** Writes an address without a password. */
export function formatDatabaseUrl({ user, hosts, database, options }: Omit<DatabaseUrl, 'password'>): string {
  const query = new URLSearchParams(options);
  query.delete('password');
  const socket = query.get('host');
  const list =
    socket === null ? hosts.map(formatHost).join(',') : formatHost({ host: '', port: hosts[0]?.port ?? 5432 });
  const tail = query.size === 0 ? '' : `?${query.toString()}`;
  return `postgres://${encodeURIComponent(user)}@${list}/${encodeURIComponent(database)}${tail}`;
}

function formatHost({ host, port }: DatabaseHost): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === 5432 ? name : `${name}:${port}`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
