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
  'xamzsecuritytoken',
  'xamzsignature',
  'xamzserversideencryptioncustomerkey',
  'xamzcopysourceserversideencryptioncustomerkey',
]);

/** Copies a value for the log: it redacts secrets by name, cleans URLs, makes errors plain objects, and limits depth and lengths. */
export function redactSecrets(fields: Record<string, unknown>): Record<string, unknown> {
  return redactObject(fields, 0);
}

/** Removes secrets from a text: signatures and tokens in URLs, passwords in their authority, bearer tokens, API keys. */
export function redactText(text: string): string {
  if (!mayHoldSecret.test(text)) return text;
  return text
    .replace(
      /([?&;\s](?:X-Amz-Signature|X-Amz-Security-Token|Signature|[\w-]*token|client_secret|code)=)[^&\s"'#]+/gi,
      `$1${hidden}`,
    )
    .replace(/(\w:\/\/[^\s:/@?#]*:)[^\s/@?#]+@/g, `$1${hidden}@`)
    .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${hidden}`)
    .replace(/\bSignature=[0-9a-f]{16,}/gi, `Signature=${hidden}`)
    .replace(/\bkes:v1:[\w+/=-]+/g, `kes:v1:${hidden}`)
    .replace(/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(-----END \1-----|$)/g, `-----BEGIN $1----- ${hidden}`);
}

/** Most lines contain none of these, and this test saves the replacements. */
const mayHoldSecret = /=|:\/\/|bearer|basic|kes:v1:|PRIVATE KEY/i;

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
