import type { LimitedFetch } from '../http/limited-fetch.ts';
import { readTokenFile } from '../settings/read-setting-file.ts';

/** Adds the token in a file, as it is at the time of the call, to requests to the host of one address, and to no others. */
export function bearerFetch(
  fetch: LimitedFetch,
  { tokenFile, address }: { readonly tokenFile: string; readonly address: string },
): LimitedFetch {
  const { origin } = new URL(address);
  return async (url, init = {}) => {
    if (new URL(url).origin !== origin) return fetch(url, init);
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${await readTokenFile(tokenFile)}`);
    return fetch(url, { ...init, headers });
  };
}
