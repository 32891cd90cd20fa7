import type { EncryptionContext } from './key-source.ts';

/**
 * The bytes a context is bound by: JSON with sorted names and no spaces, in which `<`, `>` and `&` are escaped, as other servers
 * that use the key-service protocol write it.
 */
export function contextBytes(context: EncryptionContext): Buffer {
  const sorted = Object.entries(context).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const pairs = sorted.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const escaped = `{${pairs.join(',')}}`.replaceAll(
    /[<>&]/g,
    (sign) => `\\u00${sign.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return Buffer.from(escaped);
}
