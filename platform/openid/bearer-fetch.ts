import { readFile } from 'node:fs/promises';
import type { ProviderFetch } from './provider-fetch.ts';

/** Sends the token in a file, as it is now, to the host of one address and to no other. */
export function bearerFetch(
  fetch: ProviderFetch,
  { tokenFile, address }: { readonly tokenFile: string; readonly address: string },
): ProviderFetch {
  const { origin } = new URL(address);
  return async (url, init = {}) => {
    if (new URL(url).origin !== origin) return fetch(url, init);
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}`);
    return fetch(url, { ...init, headers });
  };
}
