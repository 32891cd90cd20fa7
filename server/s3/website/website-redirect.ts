import type { RoutingRule, Website } from '../../../protocol/s3/bucket-website.ts';
import type { SitePlace } from './website-host.ts';

/** A redirect: its status and the value of `location`, in ASCII. */
export interface Redirect {
  readonly status: number;
  readonly location: string;
}

/** The part of a request that the decision needs. */
interface Asked extends SitePlace {
  readonly host: string;
  readonly secure: boolean;
}

/** Returns the redirect of a website that is only that. */
export function redirectAll(site: Extract<Website, { readonly kind: 'redirect' }>, asked: Asked): Redirect {
  return { status: 301, location: `${schemeOf(site, asked)}://${site.hostName}/${pathOf(asked.key)}` };
}

/**
 * Finds the first routing rule that applies. Without `errorCode` it is asked before the object is read, and only rules without one apply.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/how-to-page-redirect.html
 */
export function findRedirect(
  rules: readonly RoutingRule[],
  asked: Asked,
  errorCode: number | undefined,
): Redirect | undefined {
  const rule = rules.find((one) => one.errorCode === errorCode && asked.key.startsWith(one.prefix));
  if (rule === undefined) return undefined;
  const path = replacedPath(rule, asked.key);
  const status = rule.redirectCode ?? 301;
  if (rule.hostName === undefined && rule.protocol === undefined) {
    return { status, location: `${asked.base}/${withoutHost(path)}` };
  }
  // Another host has the bucket in its name.
  const [host, base] = rule.hostName === undefined ? [asked.host, asked.base] : [rule.hostName, ''];
  return { status, location: `${schemeOf(rule, asked)}://${host}${base}/${path}` };
}

/** Returns the redirect to the folder of a key, where the request lacks the slash at its end. */
export function redirectToFolder({ base, key }: SitePlace): Redirect {
  return { status: 302, location: `${base}/${pathOf(key)}/` };
}

/** Returns the redirect that an object has by `x-amz-website-redirect-location`: a path of this website, or a URL. */
export function redirectOfObject(location: string, { base }: SitePlace): Redirect {
  return { status: 301, location: encodeText(location.startsWith('/') ? `${base}${location}` : location) };
}

/** The owner of the bucket wrote the replacement, which may have a fragment or a query. The rest of the key is of the caller. */
function replacedPath({ prefix, replace }: RoutingRule, key: string): string {
  if (replace === undefined) return pathOf(key);
  const text = encodeText(replace.with);
  return replace.kind === 'key' ? text : text + key.slice(prefix.length).split('/').map(encodeURIComponent).join('/');
}

function pathOf(key: string): string {
  return withoutHost(key.split('/').map(encodeURIComponent).join('/'));
}

/** Encodes a slash at the beginning of a path. Behind the slash of the root, a browser would take the first part for a host. */
function withoutHost(path: string): string {
  return path.startsWith('/') ? `%2F${path.slice(1)}` : path;
}

/** Encodes what a header cannot hold, and keeps what is encoded already. */
function encodeText(text: string): string {
  return encodeURI(text).replaceAll('%25', '%');
}

function schemeOf({ protocol }: Pick<RoutingRule, 'protocol'>, { secure }: Pick<Asked, 'secure'>): string {
  return protocol ?? (secure ? 'https' : 'http');
}
