import { isIP } from 'node:net';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { parseHostedPath, parseResourcePath } from '../../../protocol/s3/names.ts';
import type { IncomingRequest } from '../../http/contract/request.ts';

/** The place on a website that a request is for. */
export interface SitePlace {
  readonly bucket: string;
  /** The decoded path below the bucket, without its first slash. */
  readonly key: string;
  /** The path of the website's root without its last slash: empty where the host names the bucket, else `/BUCKET`. */
  readonly base: string;
}

/**
 * Finds the bucket and the key. A host below one of `domains`, or below `localhost`, names the bucket, and so does a host that is the name of
 * a bucket with a website (`www.example.com`), which `isSite` decides. Otherwise the first part of the path names it.
 *
 * @throws S3Error InvalidURI, InvalidBucketName, KeyTooLongError, InvalidRequest for a path without a bucket
 */
export async function findSite(
  { headers: { host = '' }, rawPath }: Pick<IncomingRequest, 'headers' | 'rawPath'>,
  domains: readonly string[],
  isSite: (name: string) => Promise<boolean>,
): Promise<SitePlace> {
  const name = host.trim().toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  const all = [...domains.map((domain) => domain.toLowerCase().replace(/:\d*$/, '')), 'localhost'];
  const domain = all.toSorted((a, b) => b.length - a.length).find((one) => name.endsWith(`.${one}`));
  const hosted = domain === undefined ? name : name.slice(0, -domain.length - 1);
  const own = all.includes(name) || isIP(name) !== 0 || !/^[a-z0-9.-]{3,63}$/.test(hosted);
  if (!own && (domain !== undefined || (await isSite(hosted)))) {
    const { bucket, key = '' } = parseHostedPath(hosted, rawPath);
    return { bucket, key, base: '' };
  }
  const { bucket, key = '' } = parseResourcePath(rawPath);
  if (bucket === undefined) {
    throw new S3Error('InvalidRequest', 'The request names no bucket: neither its host nor its path does.');
  }
  return { bucket, key, base: `/${bucket}` };
}
