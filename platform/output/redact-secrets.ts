const hidden = '[redacted]';
const maxDepth = 6;
const maxItems = 200;

/** The names of fields with secrets, without case, `-` and `_`. */
const secretNames = new Set([
  'authorization',
  'cookie',
  'setcookie',
  'password',
  'rootpassword',
  'secret',
  'secretkey',
  'secretaccesskey',
  'clientsecret',
  'token',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'sessiontoken',
  'securitytoken',
  'webidentitytoken',
  'apikey',
  'privatekey',
  'plaintext',
  'datakey',
  // The settings of notification targets.
  'authtoken',
  'saslpassword',
  'connectionstring',
  'dsnstring',
  'xamzsecuritytoken',
  'xamzsignature',
  'xamzserversideencryptioncustomerkey',
  'xamzcopysourceserversideencryptioncustomerkey',
]);

/** Copies a value for the log: it redacts secrets by name, cleans URLs, makes errors plain objects, and limits depth and lengths. */
export function redactSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  return redactObject(fields, 0);
}

/**
 * Removes secrets from a text: the query of each URL, passwords in its authority and of databases, signatures, bearer tokens, API keys. Every output
 * for people comes through here: logs, error messages, audit entries, conditions and events.
 */
export function redactText(text: string): string {
  if (!mayHoldSecret.test(text)) return text;
  return text
    .replace(secretParameter, `$1${hidden}`)
    .replace(/\S+/g, (word) => redactDsn(redactUrls(redactQuery(word))))
    .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${hidden}`)
    .replace(/\bSignature=[0-9a-f]{16,}/gi, `Signature=${hidden}`)
    .replace(/\bkes:v1:[\w+/=-]+/g, `kes:v1:${hidden}`)
    .replace(/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(-----END \1-----|$)/g, `-----BEGIN $1----- ${hidden}`);
}

/** Removes secrets from the value of a setting: a path may have a token too, as those of webhooks of chats do. */
export function redactSetting(value: string): string {
  return redactText(value).replace(/\S+/g, redactPath);
}

/** Removes what follows the `?` of a URL: its parameters may be a key, whatever they are called. A query without a URL is left to the names. */
function redactQuery(word: string): string {
  const scheme = word.indexOf('://');
  const query = scheme < 1 ? -1 : word.indexOf('?', scheme);
  // A `?` before the last `@` belongs to a password that is not encoded.
  if (query < 0 || word.includes('@', query)) return word;
  let end = word.length;
  while (end > query + 1 && closing.has(word.charAt(end - 1))) end -= 1;
  const fragment = word.indexOf('#', query);
  if (fragment >= 0) end = Math.min(end, fragment);
  return end === query + 1 ? word : `${word.slice(0, query + 1)}${hidden}${word.slice(end)}`;
}

/** The characters that a sentence may put behind an address. */
const closing = new Set('"\'`),.;:>}');

/** Removes the segments of a path that look like tokens: 16 characters or more, letters and digits. A UUID is a name, for instance of a tenant. */
function redactPath(word: string): string {
  const scheme = word.indexOf('://');
  const path = scheme < 1 ? -1 : word.indexOf('/', scheme + 3);
  if (path < 0) return word;
  const end = word.indexOf('?', path) < 0 ? word.length : word.indexOf('?', path);
  const segments = word.slice(path, end).split('/');
  return `${word.slice(0, path)}${segments.map((one) => (isToken(one) ? hidden : one)).join('/')}${word.slice(end)}`;
}

function isToken(segment: string): boolean {
  if (!/^[\w~+=-]{16,}$/.test(segment) || !/\d/.test(segment) || !/[a-z]/i.test(segment)) return false;
  return !/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(segment);
}

/** Most lines contain none of these, and this test saves the replacements. */
const mayHoldSecret = /=|:\/\/|@(?:tcp|unix)\(|bearer|basic|kes:v1:|PRIVATE KEY/i;

/** A parameter of a URL, or a word of a connection string, whose name says that its value is secret. */
const secretParameter =
  /((?:^|[?&;\s])(?:X-Amz-Signature|Signature|sig|code|[\w-]*(?:token|secret|password|passwd|api[_-]?key))=)(?:'[^']*'|[^&\s"'#]+)/gi;

const userOfUrl = /[^:/@?#]*/y;

/** A port, unless an `@` before the next `/` shows that the digits begin a password. */
const portOfUrl = /\d{1,5}(?:[^\d@]|$)(?![^/]*@)/y;

/**
 * Removes the password in the authority of each URL, and a user without one, who may be a token. People forget to encode `/`, `@`, `?` and
 * `#` in passwords: what is no port belongs to the password, up to the last `@` of the word. This takes linear time, because clients choose
 * the texts of some lines.
 */
function redactUrls(word: string): string {
  const lastAt = word.lastIndexOf('@');
  let clean = '';
  let copied = 0;
  for (
    let slashes = word.indexOf('://');
    slashes >= 0 && slashes < lastAt;
    slashes = word.indexOf('://', slashes + 3)
  ) {
    const start = slashes + 3;
    if (!/\w/.test(word.charAt(slashes - 1))) continue;
    const end = endOf(userOfUrl, word, start) ?? start;
    const next = word.charAt(end);
    if (next === ':' && word.slice(end + 1, lastAt) === placeholder) break;
    if (next === ':' && end + 1 < lastAt && endOf(portOfUrl, word, end + 1) === undefined)
      return `${clean}${word.slice(copied, end + 1)}${hidden}${word.slice(lastAt)}`;
    if (next === '@' && end > start) {
      clean += `${word.slice(copied, start)}${hidden}`;
      copied = end;
    }
  }
  return clean + word.slice(copied);
}

/** Messages write this word for a password where they show the form of an address. */
const placeholder = 'PASSWORD';

/** Removes the password of `USER:PASSWORD@tcp(HOST:PORT)/DATABASE`, the form of MySQL in MinIO. */
function redactDsn(word: string): string {
  const end = Math.max(word.lastIndexOf('@tcp('), word.lastIndexOf('@unix('));
  const colon = word.indexOf(':');
  const isForm = word.slice(colon + 1, end) === placeholder;
  return colon < 0 || colon + 1 >= end || isForm ? word : `${word.slice(0, colon + 1)}${hidden}${word.slice(end)}`;
}

/** Returns the end of the match of a sticky pattern at a place; undefined without a match. */
function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function redactValue(name: string, value: unknown, depth: number): unknown {
  if (isSecretName(name) && value !== undefined && value !== null && typeof value !== 'boolean') return hidden;
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value;
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  if (depth >= maxDepth) return '[deeper]';
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.slice(0, maxItems).map((item) => redactValue('', item, depth + 1));
  return redactObject(value, depth + 1);
}

function redactObject(object: object, depth: number): Record<string, unknown> {
  const entries = Object.entries(object).slice(0, maxItems);
  return Object.fromEntries(entries.map(([name, value]) => [name, redactValue(name, value, depth)]));
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  return {
    type: error.name,
    message: redactText(error.message),
    ...redactObject(error, depth + 1),
    ...(error.cause === undefined ? {} : { cause: redactValue('cause', error.cause, depth + 1) }),
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
  };
}

function isSecretName(name: string): boolean {
  return secretNames.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
}
