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

/** Removes secrets from a text: signatures and tokens in URLs, passwords in their authority and of databases, bearer tokens, API keys. */
export function redactText(text: string): string {
  if (!mayHoldSecret.test(text)) return text;
  return text
    .replace(secretParameter, `$1${hidden}`)
    .replace(passwordOfUrl, `$1${hidden}@`)
    .replace(userOfUrl, `$1${hidden}@`)
    .replace(passwordOfDsn, `:${hidden}@$1(`)
    .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${hidden}`)
    .replace(/\bSignature=[0-9a-f]{16,}/gi, `Signature=${hidden}`)
    .replace(/\bkes:v1:[\w+/=-]+/g, `kes:v1:${hidden}`)
    .replace(/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(-----END \1-----|$)/g, `-----BEGIN $1----- ${hidden}`);
}

/** Most lines contain none of these, and this test saves the replacements. */
const mayHoldSecret = /=|:\/\/|@(?:tcp|unix)\(|bearer|basic|kes:v1:|PRIVATE KEY/i;

/** A parameter of a URL, or a word of a connection string, whose name says that its value is secret. */
const secretParameter =
  /((?:^|[?&;\s])(?:X-Amz-Signature|Signature|sig|code|[\w-]*(?:token|secret|password|passwd|api[_-]?key))=)(?:'[^']*'|[^&\s"'#]+)/gi;

/**
 * The password in the authority of a URL. People forget to encode `/`, `@`, `?` and `#` in passwords: what is no port belongs to the
 * password, up to the last `@`. Its length is bounded, because clients choose the texts of some lines.
 */
const passwordOfUrl = /(\w:\/\/[^\s:/@?#]{0,256}:)(?!\d{1,5}(?:[^\d@]|$)(?![^\s/]*@))\S{1,256}@/g;

/** The user in the authority of a URL without a password, which may be a token. */
const userOfUrl = /(\w:\/\/)[^\s:/@?#[\]]{1,256}@/g;

/** `USER:PASSWORD@tcp(HOST:PORT)/DATABASE`, the form of MySQL in MinIO. */
const passwordOfDsn = /:\S{1,256}@(tcp|unix)\(/g;

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
  const clean: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object).slice(0, maxItems)) clean[name] = redactValue(name, value, depth);
  return clean;
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
