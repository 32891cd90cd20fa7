/** The facts of a copy that are known without reading it. */
interface Copy {
  readonly etag: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** True where the ETag is not a digest of the content: SSE-KMS. */
  readonly hasRandomEtag: boolean;
}

/**
 * Reports whether a target has the content of a source. Where both ETags are the MD5 of the content, they decide. The parts of an upload and
 * encryption give the same content other ETags: then a target of the same size that is not older is taken for the same. Times in headers are
 * whole seconds.
 */
export function isSameContent(source: Copy, target: Copy): boolean {
  if (source.etag === target.etag) return true;
  if (isMd5(source) && isMd5(target)) return false;
  return source.size === target.size && seconds(target.modified) >= seconds(source.modified);
}

function isMd5({ etag, hasRandomEtag }: Copy): boolean {
  return !hasRandomEtag && /^[0-9a-f]{32}$/.test(etag);
}

function seconds(ms: number): number {
  return Math.floor(ms / 1_000);
}
