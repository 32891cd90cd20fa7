import type { RequestHandler } from 'express';

/** Returns the path below which browsers see the console, for example `/console`; empty for the root of its host. */
export function basePathOf({ browserUrl }: { readonly browserUrl?: string | undefined }): string {
  return browserUrl === undefined ? '' : new URL(browserUrl).pathname.replace(/\/+$/, '');
}

/** Removes the base path from the requests of a proxy that passes it on. Most proxies remove it. */
export function withoutBasePath(base: string): RequestHandler {
  return (request, _response, next) => {
    const { url } = request;
    const rest = base !== '' && url.startsWith(base) ? url.slice(base.length) : undefined;
    if (rest === '' || rest?.startsWith('?') === true) request.url = `/${rest}`;
    else if (rest?.startsWith('/') === true) request.url = rest;
    next();
  };
}

/** Writes the base path into the page of the web application, whose build has relative URLs. */
export function pageBelow(page: string, base: string): string {
  return page
    .replaceAll(/(href|src)="\.\//g, `$1="${base}/`)
    .replace('name="coffer-base" content=""', `name="coffer-base" content="${base}"`);
}
