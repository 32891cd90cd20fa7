import { redactText } from '../../platform/redact-secrets.ts';
import type { KubeObject } from '../kube/kube-api.ts';

const hidden = '[redacted]';

/** Names of fields and settings whose plain values may be secrets. */
const secretName = /secret|password|token|access_?key|api_?key|private_?key|credential/i;

/** Values shorter than this are words of the language, which would be struck out everywhere. */
const shortestSecret = 8;

/**
 * What strikes the values of Secrets out of any text: as they are, in base64, and escaped as in a URL or in JSON. The values stay in
 * memory; nothing of them is written.
 */
export function secretStriker(secrets: readonly KubeObject[]): (text: string) => string {
  const values = new Set<string>();
  for (const secret of secrets) {
    for (const [key, encoded] of Object.entries((secret['data'] ?? {}) as Readonly<Record<string, string>>)) {
      // Certificates are public, and their names are in the report.
      if (key.endsWith('.crt')) continue;
      const value = Buffer.from(encoded, 'base64').toString('utf8').trim();
      if (value.length < shortestSecret) continue;
      for (const form of [value, encoded, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) {
        values.add(form);
      }
    }
  }
  // The longest first, so that no part of one is left of another.
  const ordered = [...values].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((clean, value) => clean.replaceAll(value, hidden), redactLog(text));
}

/** Takes out of a log what looks like a secret, whether or not it is known: access keys too, which the programs may log. */
export function redactLog(text: string): string {
  return redactText(text)
    .replace(/\b(Credential=)[^/\s&,"]+/gi, `$1${hidden}`)
    .replace(
      /("\w*(?:secret|password|token|(?:access|api|private)_?key|key_?id)"\s*:\s*)"(?:[^"\\]|\\.)*"/gi,
      `$1"${hidden}"`,
    )
    .replace(/\b(\w*(?:secret|password|token|(?:access|api|private)_?key)=)[^\s,;&"']+/gi, `$1${hidden}`);
}

/** An object without what a report must not hold. A Secret keeps only its type and the names of its keys. */
export function redactObject(object: KubeObject): unknown {
  const { metadata, ...rest } = object;
  const {
    managedFields: _managedFields,
    annotations,
    ...kept
  } = metadata as typeof metadata & {
    readonly managedFields?: unknown;
  };
  // It repeats the whole object, and for Secrets their values.
  const { 'kubectl.kubernetes.io/last-applied-configuration': _repeated, ...others } = annotations ?? {};
  const clean = { ...kept, ...(annotations === undefined ? {} : { annotations: redactValue('', others) }) };
  if (object.kind === 'Secret') {
    const keys = Object.keys(object['data'] ?? {}).sort();
    return { apiVersion: object.apiVersion, kind: 'Secret', metadata: clean, type: object['type'], keys };
  }
  return { ...(redactValue('', rest) as object), metadata: clean };
}

function redactValue(name: string, value: unknown): unknown {
  if (typeof value === 'string') return isSecretField(name) ? hidden : redactLog(value);
  if (Array.isArray(value)) return value.map((item) => redactValue('', item));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  // Settings and environment variables: { name, value }.
  const named = typeof fields['name'] === 'string' && secretName.test(fields['name']);
  return Object.fromEntries(
    Object.entries(fields).map(([key, inner]) => [
      key,
      named && key === 'value' && typeof inner === 'string' ? hidden : redactValue(key, inner),
    ]),
  );
}

/** `password: x` is one, `secretName: x` and `clientSecretRef: {…}` only name one. */
function isSecretField(name: string): boolean {
  return (
    secretName.test(name) &&
    !/(name|ref|path|key|file|policy)$/i.test(name.replace(/(access|api|private|secret)_?key$/i, ''))
  );
}
