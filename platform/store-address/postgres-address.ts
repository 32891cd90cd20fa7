import { ProgramError } from '../errors/program-error.ts';
import { type AuthenticationRules, authenticationRules } from './authentication-rules.ts';
import { type DatabaseHost, databaseOptions, parseDatabaseUrl } from './database-url.ts';

/** The parsed URL of a PostgreSQL. */
export interface PostgresAddress extends DatabaseHost {
  /** All of them; the first one is `host` and `port`. */
  readonly hosts: readonly DatabaseHost[];
  readonly user: string;
  readonly database: string;
  readonly applicationName: string;
  readonly tls: DatabaseTls;
  readonly authentication: AuthenticationRules;
  /** Milliseconds until a connection is ready; the default of the store if absent. */
  readonly connectMs?: number;
  /** Milliseconds of silence after which the operating system asks whether the server is there. Undefined: it does not ask. */
  readonly keepAliveMs: number | undefined;
  /** Settings of the session, as in `-c search_path=coffer`. */
  readonly options?: string;
  /** The administrator states that the server is durable although it reports `fsync=off`, as Neon does. */
  readonly trustFsyncOff: boolean;
}

export type DatabaseTls =
  | { readonly kind: 'off' }
  | {
      readonly kind: 'require' | 'verify-ca' | 'verify-full';
      readonly rootCert?: string;
      readonly cert?: string;
      readonly key?: string;
    };

/** @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS the options are libpq's */
export function parsePostgresAddress(text: string): PostgresAddress {
  const parsed = parseDatabaseUrl(text);
  if (parsed === undefined) {
    throw new ProgramError(
      'store-address',
      'the address of PostgreSQL is not of the form postgres://USER@HOST:PORT/DATABASE',
    );
  }
  const { user, hosts, database, options } = parsed;
  if (parsed.password !== '') {
    throw new ProgramError(
      'store-address',
      'the address of PostgreSQL holds a password: give it by a setting of its own',
    );
  }
  for (const name of options.keys()) {
    if (!(databaseOptions as readonly string[]).includes(name)) {
      throw new ProgramError(
        'store-address',
        `the address of PostgreSQL has an option ${JSON.stringify(name)}, known are ${databaseOptions.join(', ')}`,
      );
    }
  }
  const [first] = hosts;
  if (user === '' || database === '' || first === undefined) {
    throw new ProgramError('store-address', 'the address of PostgreSQL names no user or no database');
  }
  checkTarget(options.get('target_session_attrs'));
  const connectTimeout = seconds(options, 'connect_timeout');
  const keepAliveIdle = seconds(options, 'keepalives_idle');
  const startOptions = options.get('options');
  const authentication = authenticationRules(options);
  const tls = tlsMode(options);
  if (authentication.channelBinding === 'require' && tls.kind === 'off') {
    throw new ProgramError(
      'store-address',
      'channel_binding=require needs TLS: add sslmode=verify-full to the address',
    );
  }
  return {
    ...first,
    hosts,
    user,
    database,
    applicationName: options.get('application_name') ?? 'coffer',
    tls,
    authentication,
    ...(connectTimeout !== undefined && connectTimeout > 0 && { connectMs: Math.max(2, connectTimeout) * 1000 }),
    keepAliveMs: options.get('keepalives') === '0' ? undefined : (keepAliveIdle || 10) * 1000,
    ...(startOptions !== null && { options: startOptions }),
    trustFsyncOff: options.get('trust_fsync_off') === 'true',
  };
}

/** Every session of a store writes. */
function checkTarget(target: string | null): void {
  if (target === null || target === 'read-write' || target === 'primary' || target === 'any') return;
  throw new ProgramError(
    'store-address',
    `the address of PostgreSQL has target_session_attrs=${target}: Coffer needs the server that writes (read-write, or primary)`,
  );
}

function seconds(options: URLSearchParams, name: string): number | undefined {
  const text = options.get(name);
  if (text === null) return undefined;
  if (/^\d{1,6}$/u.test(text)) return Number(text);
  throw new ProgramError('store-address', `${name} in the address of PostgreSQL is not a number of seconds: ${text}`);
}

function tlsMode(options: URLSearchParams): DatabaseTls {
  const mode = options.get('sslmode') ?? (options.has('sslrootcert') ? 'verify-full' : 'disable');
  if (mode === 'disable') return { kind: 'off' };
  if (mode !== 'require' && mode !== 'verify-ca' && mode !== 'verify-full') {
    throw new ProgramError(
      'store-address',
      `the address of PostgreSQL has sslmode=${mode}, known are disable, require, verify-ca and verify-full ` +
        '(allow and prefer would let an attacker on the network turn encryption off)',
    );
  }
  const rootCert = options.get('sslrootcert');
  if (mode === 'verify-ca' && rootCert === null) {
    throw new ProgramError(
      'store-address',
      'sslmode=verify-ca needs sslrootcert: any public authority would do otherwise',
    );
  }
  const [cert, key] = [options.get('sslcert'), options.get('sslkey')];
  return { kind: mode, ...(rootCert && { rootCert }), ...(cert && { cert }), ...(key && { key }) };
}

/** Describes an address for logs and errors: the host that is asked, or all of them. */
export function describeAddress(address: PostgresAddress): string {
  const [first] = address.hosts;
  const isOne = address.hosts.length === 1 || first?.host !== address.host || first.port !== address.port;
  const hosts = isOne ? [address] : address.hosts;
  const shown = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`);
  return `PostgreSQL at ${shown.join(',')}/${address.database}`;
}
