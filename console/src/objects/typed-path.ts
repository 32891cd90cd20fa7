import { folderUrl, objectUrl } from '../components/urls.ts';

/** The list of buckets, or a place in a bucket. */
type KnownPath =
  { readonly kind: 'buckets' } | { readonly kind: 'path'; readonly bucket: string; readonly key: string };

/** The path that a user typed. */
type TypedPath =
  | KnownPath
  /** The first part may be a bucket, or the first folder of a key in the bucket of the page. */
  | { readonly kind: 'unclear'; readonly bucket: string; readonly key: string; readonly text: string };

/** Reads a path: `s3://BUCKET/KEY`, `/BUCKET/KEY`, `BUCKET/KEY`, or a key in the bucket of the page. */
export function parsePath(typed: string, here: string): TypedPath {
  const text = typed.trim();
  const isAbsolute = /^(?:s3:\/\/|\/)/.test(text);
  const bare = text.replace(/^s3:\/\//, '').replace(/^\/+/, '');
  if (bare === '') return { kind: 'buckets' };
  const slash = bare.indexOf('/');
  const bucket = slash < 0 ? bare : bare.slice(0, slash);
  const key = slash < 0 ? '' : bare.slice(slash + 1);
  if (isAbsolute || bucket === here) return { kind: 'path', bucket, key };
  return { kind: 'unclear', bucket, key, text: bare };
}

/** Takes the first part of an unclear path for a bucket if the user sees a bucket of this name, else for a part of a key. */
export function resolvePath(path: TypedPath, here: string, isBucket: boolean): KnownPath {
  if (path.kind !== 'unclear') return path;
  if (isBucket) return { kind: 'path', bucket: path.bucket, key: path.key };
  return { kind: 'path', bucket: here, key: path.text };
}

/**
 * Returns the page of a path. A key that ends in a slash is a folder.
 *
 * @param at - the moment at which the folders are shown; null for now
 */
export function pathUrl(path: KnownPath, at: string | null = null): string {
  if (path.kind === 'buckets') return '/buckets';
  const { bucket, key } = path;
  if (key === '' || key.endsWith('/')) return folderUrl(bucket, key, at);
  return objectUrl(bucket, key.slice(0, key.lastIndexOf('/') + 1), key, at);
}
