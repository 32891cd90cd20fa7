import type { S3Error } from '../s3/s3-error.ts';

/** Metadata of 2 KiB has room for some hundred headers with short names; every other client signs a dozen. */
const maxSignedHeaders = 500;

/** Names in lower case, at least one, each once. */
export function parseSignedHeaders(text: string, fail: (why: string) => S3Error): string[] {
  const names = text.toLowerCase().split(';', maxSignedHeaders + 1);
  if (names.length > maxSignedHeaders) throw fail(`SignedHeaders names more than ${maxSignedHeaders} headers`);
  if (new Set(names).size !== names.length || !names.every((name) => /^[!-9<-~]+$/.test(name))) {
    throw fail('SignedHeaders must be a list of header names separated by semicolons, each once');
  }
  return names;
}

export function isSignature(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

export function parseSignature(text: string, fail: (why: string) => S3Error): string {
  if (!isSignature(text)) throw fail('Signature must be 64 hexadecimal digits in lower case');
  return text;
}
