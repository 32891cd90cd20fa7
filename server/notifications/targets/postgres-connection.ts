import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import { DeliveryError } from '../../outbox/delivery-error.ts';

/** The words of libpq that a connection may have. A word that would be ignored is refused, since it may be a misspelt one of these. */
const words = [
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'options',
  'application_name',
  'connect_timeout',
] as const;

type Word = (typeof words)[number];
type Connection = Readonly<Partial<Record<Word, string>>>;

const defaultTimeoutMs = 5_000;

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?OPTIONS`, or the form `host=… port=… user=…` of libpq, which MinIO's deployments use.
 * `caFile` takes the place of `sslrootcert`.
 *
 * @throws DeliveryError for what is misspelt or not known
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
 */
export async function connectionOf(text: string, caFile: string | undefined): Promise<ClientConfig> {
  const connection = /^postgres(?:ql)?:/.test(text) ? ofUrl(text) : ofWords(text);
  const { host, port, user, password, dbname, options, application_name: name } = connection;
  const seconds = numberOf('connect_timeout', connection.connect_timeout) ?? 0;
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port: numberOf('port', port) ?? 0 }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(dbname !== undefined && { database: dbname }),
    ...(options !== undefined && { options }),
    ...(name !== undefined && { application_name: name }),
    // An event has ten seconds. A time of 0 is not set, and `pg` would wait without a limit.
    connectionTimeoutMillis: seconds === 0 ? defaultTimeoutMs : Math.min(seconds * 1_000, defaultTimeoutMs),
    ssl: await tlsOf(connection, caFile),
  };
}

/** The certificate is verified in every mode but `disable`: a connection that anyone can answer would give the password away. */
async function tlsOf(
  { sslmode, sslrootcert, sslcert, sslkey }: Connection,
  caFile: string | undefined,
): Promise<ConnectionOptions | false> {
  const authority = caFile ?? sslrootcert;
  const mode = sslmode ?? (authority === undefined ? 'disable' : 'verify-full');
  if (mode === 'disable') {
    if (authority === undefined) return false;
    throw refused('a file of authorities is set, and the connection has sslmode=disable');
  }
  if (!['require', 'verify-ca', 'verify-full'].includes(mode))
    throw refused(`the connection has sslmode=${mode}: use disable, require, verify-ca or verify-full`);
  const [ca, cert, key] = await Promise.all(
    [authority, sslcert, sslkey].map(async (path) => path && (await readFile(path, 'utf8'))),
  );
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    // The authority alone is checked.
    ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
  };
}

function numberOf(word: Word, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw refused(`the connection has ${word}=${text}: it is a number`);
}

function ofUrl(text: string): Connection {
  // The error of a wrong URL would have the password.
  // A URL with an account has a host, also where the folder of a socket is an option.
  const withHost = text.replace(/^([^/]*\/\/[^/?#]*@)(?=\/)/, '$1socket');
  const url = URL.parse(withHost);
  const form = 'the connection is not postgres://USER:PASSWORD@HOST:PORT/DATABASE';
  if (url === null) throw refused(form);
  try {
    const given: readonly (readonly [string, string])[] = [
      ['host', withHost === text ? url.hostname.replace(/^\[(.*)\]$/, '$1') : ''],
      ['port', url.port],
      ['user', decodeURIComponent(url.username)],
      ['password', decodeURIComponent(url.password)],
      ['dbname', decodeURIComponent(url.pathname.slice(1))],
    ];
    // An option wins, as `host` with the folder of a socket does.
    return checked([...given.filter(([, value]) => value !== ''), ...url.searchParams]);
  } catch (error) {
    if (error instanceof URIError) throw refused(form);
    throw error;
  }
}

/**
 * Values with blanks are in quotes. A value that does not begin with a quote ends at white space, and may have quotes. A backslash takes the meaning
 * from the character after it.
 */
const pair = /\s*(\w+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|(?!')((?:[^\s\\]|\\.)*))(?=\s|$)/gsy;

function ofWords(text: string): Connection {
  const pairs: (readonly [string, string])[] = [];
  pair.lastIndex = 0;
  let end = 0;
  for (let found = pair.exec(text); found !== null; found = pair.exec(text)) {
    const [, name = '', quoted, bare = ''] = found;
    pairs.push([name, (quoted ?? bare).replaceAll(/\\(.)/gs, '$1')]);
    end = pair.lastIndex;
  }
  if (text.slice(end).trim() === '') return checked(pairs);
  const after = pairs.at(-1)?.[0];
  throw refused(
    `the connection cannot be read ${after === undefined ? 'at its beginning' : `after ${after}`}: a value with blanks is in quotes`,
  );
}

function checked(pairs: readonly (readonly [string, string])[]): Connection {
  const unknown = pairs.find(([name]) => !(words as readonly string[]).includes(name));
  if (unknown === undefined) return Object.fromEntries(pairs);
  throw refused(`the connection has ${unknown[0]}, which is not one of ${words.join(', ')}`);
}

function refused(message: string): DeliveryError {
  return new DeliveryError('unavailable', message);
}
