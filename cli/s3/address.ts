import { percentEncode, percentEncodePath } from '../../protocol/sigv4/percent-encoding.ts';
import type { Alias } from '../config/alias.ts';

/** A list stands for the parameter repeated. */
export type Query = Readonly<Record<string, string | number | undefined | readonly string[]>>;

export interface Address {
  readonly host: string;
  readonly rawPath: string;
  readonly rawQuery: string;
}

/** Where a bucket or key is reached: in the path, or on AWS by a host of the bucket's own. */
export function addressOf(alias: Alias, bucket: string, key: string, query: Query): Address {
  const { host } = new URL(alias.url);
  const rawQuery = writeQuery(query);
  const encodedKey = percentEncodePath(key);
  if (bucket === '') return { host, rawPath: `/${encodedKey}`, rawQuery };
  if (usesBucketHost(alias, bucket, host)) return { host: `${bucket}.${host}`, rawPath: `/${encodedKey}`, rawQuery };
  // MinIO tells a bucket from a key by the slash.
  return { host, rawPath: `/${bucket}/${encodedKey}`, rawQuery };
}

/** A dot in the name would not fit the wildcard certificate of the host. */
function usesBucketHost(alias: Alias, bucket: string, host: string): boolean {
  if (alias.path === 'on' || (bucket.includes('.') && alias.url.startsWith('https:'))) return false;
  return alias.path === 'off' || /(^|\.)amazonaws\.com(\.cn)?(:\d+)?$/.test(host);
}

function writeQuery(query: Query): string {
  return Object.entries(query)
    .flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, String(one)] as const))
    .map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
    .join('&');
}
