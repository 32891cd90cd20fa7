import type { EncryptionContext } from './key-source.ts';

/** What JSON leaves as it is and HTML would read. */
const signs = /[<>&]/g;

/**
 * What a context is bound by: JSON with sorted names and no spaces, in which `<`, `>` and `&` are escaped, as other servers that use the
 * key-service protocol write it. Its UTF-8 is what keys are sealed with; two contexts never have the same text.
 */
export function contextText(context: EncryptionContext): string {
  const names = Object.keys(context);
  // Nearly all have the bucket alone, and each request asks.
  const sorted = names.length < 2 ? names : names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const pairs = sorted.map((name) => `${JSON.stringify(name)}:${JSON.stringify(context[name])}`);
  return `{${pairs.join(',')}}`.replaceAll(signs, (sign) => `\\u00${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

export function contextBytes(context: EncryptionContext): Buffer {
  return Buffer.from(contextText(context));
}
