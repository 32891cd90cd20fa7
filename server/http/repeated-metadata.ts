import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

const prefix = 'x-amz-meta-';

/**
 * Returns the headers with the values of repeated metadata joined by a comma alone, as S3 stores and signs them. Node puts a space after the
 * comma.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html
 */
export function joinRepeatedMetadata({
  headers,
  rawHeaders,
}: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): IncomingHttpHeaders {
  const values = new Map<string, string[]>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (!name.startsWith(prefix)) continue;
    const earlier = values.get(name);
    const value = rawHeaders[at + 1] ?? '';
    if (earlier === undefined) values.set(name, [value]);
    else earlier.push(value);
  }
  const repeated = [...values].filter(([, all]) => all.length > 1).map(([name, all]) => [name, all.join(',')] as const);
  return repeated.length === 0 ? headers : { ...headers, ...Object.fromEntries(repeated) };
}
