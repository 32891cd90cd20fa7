import { ProgramError } from '../../../platform/program-error.ts';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';

/** The parsed URL of a PostgreSQL. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly applicationName: string;
  readonly tls: TlsMode;
  /** The administrator states that the server is durable although it reports `fsync=off`, as Neon does. */
  readonly trustFsyncOff: boolean;
}

type TlsMode =
  | { readonly kind: 'off' }
  | {
      readonly kind: 'require' | 'verify-ca' | 'verify-full';
      readonly rootCert?: string;
      readonly cert?: string;
      readonly key?: string;
    };

const OPTIONS = ['host', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'application_name', 'trust_fsync_off'];

/** @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS the options are libpq's */
export function parsePostgresAddress(text: string): PostgresAddress {
  const url = URL.parse(text);
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    throw new ProgramError(
      'store-address',
      'the address of PostgreSQL is not of the form postgres://USER@HOST:PORT/DATABASE',
    );
  }
  if (url.password !== '') {
    throw new ProgramError(
      'store-address',
      'the address of PostgreSQL holds a password: give it by a setting of its own',
    );
  }
  for (const name of url.searchParams.keys()) {
    if (!OPTIONS.includes(name)) {
      throw new ProgramError(
        'store-address',
        `the address of PostgreSQL has an option ${JSON.stringify(name)}, known are ${OPTIONS.join(', ')}`,
      );
    }
  }
  const user = decodeURIComponent(url.username);
  const database = decodeURIComponent(url.pathname.slice(1));
  if (user === '' || database === '') {
    throw new ProgramError('store-address', 'the address of PostgreSQL names no user or no database');
  }
  return {
    // The folder of a Unix socket has slashes, so it is an option.
    host: url.searchParams.get('host') ?? url.hostname.replace(/^\[(.*)\]$/u, '$1'),
    port: url.port === '' ? 5432 : Number(url.port),
    user,
    database,
    applicationName: url.searchParams.get('application_name') ?? 'coffer',
    tls: tlsMode(url.searchParams),
    trustFsyncOff: url.searchParams.get('trust_fsync_off') === 'true',
  };
}

function tlsMode(options: URLSearchParams): TlsMode {
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

/** Reads the certificates again for each connection, so that renewed ones are used without a restart. */
export function tlsOptions(mode: TlsMode): ConnectionOptions | false {
  if (mode.kind === 'off') return false;
  return {
    ...(mode.rootCert !== undefined && { ca: readFileSync(mode.rootCert) }),
    ...(mode.cert !== undefined && { cert: readFileSync(mode.cert) }),
    ...(mode.key !== undefined && { key: readFileSync(mode.key) }),
    // Like libpq, `require` with a root certificate verifies the chain.
    rejectUnauthorized: mode.kind !== 'require' || mode.rootCert !== undefined,
    ...(mode.kind !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

/** Describes an address for logs and errors. */
export function describeAddress(address: PostgresAddress): string {
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `PostgreSQL at ${host}:${address.port}/${address.database}`;
}
