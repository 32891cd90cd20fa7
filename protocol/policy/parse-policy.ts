import type { PolicyDocument } from './document.ts';

/** Throws S3Error MalformedPolicy that names the offending field and value. */
export function parsePolicyDocument(
  _json: string | Record<string, unknown>,
  _limits: { readonly maxBytes: number } = { maxBytes: 20_480 },
): PolicyDocument {
  throw new Error('not yet');
}
