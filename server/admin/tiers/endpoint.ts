import { S3Error } from '../../../protocol/s3/s3-error.ts';

/** The endpoint is shown in lists, so that it must have no credentials. */
export function endpointOf(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isPlain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === '';
  if (isPlain) return url.origin;
  throw invalid('The endpoint must be http://HOST[:PORT] or https://HOST[:PORT].');
}

export function invalid(message: string): S3Error {
  return new S3Error('XMinioAdminTierInvalidConfig', message);
}
