import { createHash } from 'node:crypto';

/** The bytes of an object by their hash, or that there is none. A bucket is one by the name of `BUCKET/`. */
export type Content = string | undefined;

export function contentOf(bytes: Uint8Array): string {
  return `${bytes.length} bytes, SHA-256 ${createHash('sha256').update(bytes).digest('hex')}`;
}

/** An answer is missing: it is what it was, or what was asked for. */
export const IN_DOUBT = Symbol('in doubt');

/** What `BUCKET/` is while the bucket is there. */
export const BUCKET_THERE = 'a bucket';

/** Who is told what clients ask for and are answered, by the names `BUCKET/KEY`. One writer at a time changes a name. */
export interface Witness {
  /** A request is on its way: from now on the server may show either. */
  begin(name: string, content: Content): void;
  acknowledge(name: string): void;
  /** The server refused: nothing was changed. */
  refuse(name: string): void;
  /** What surely is there, `undefined` for nothing; `IN_DOUBT` while an answer is missing. */
  known(name: string): Content | typeof IN_DOUBT;
}

/** Where the object of a name is. */
export function placeOf(name: string): { readonly Bucket: string; readonly Key: string } {
  const slash = name.indexOf('/');
  return { Bucket: name.slice(0, slash), Key: name.slice(slash + 1) };
}
