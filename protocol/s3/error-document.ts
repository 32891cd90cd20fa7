import type { S3Error } from './s3-error.ts';

/** The XML answer of an error. */
export function writeErrorDocument(
  _error: S3Error,
  _request: { readonly resource: string; readonly requestId: string; readonly hostId?: string },
): string {
  throw new Error('not yet');
}
