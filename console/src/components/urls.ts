/** Detail pages. Names are query parameters: browsers would normalize `..` in a path. */
export function userUrl(name: string): string {
  return `/user?${new URLSearchParams({ name })}`;
}

export function groupUrl(name: string): string {
  return `/group?${new URLSearchParams({ name })}`;
}

export function policyUrl(name: string): string {
  return `/policy?${new URLSearchParams({ name })}`;
}

export function providerUrl(type: string, name: string): string {
  return `/identity-provider?${new URLSearchParams({ type, name })}`;
}

/** The page that explains decisions about the user. */
export function explainUrl(who: string): string {
  return `/explain?${new URLSearchParams({ who })}`;
}

/**
 * Pages of the object browser. Prefix and key are query parameters: browsers would normalize `..` in a path.
 */
export function folderUrl(bucket: string, prefix: string, at: string | null = null): string {
  const query = folderQuery(prefix, at);
  return `/buckets/${encodeURIComponent(bucket)}${query.size === 0 ? '' : `?${query}`}`;
}

/** @param at - the moment at which the folder is shown; null for now */
function folderQuery(prefix: string, at: string | null): URLSearchParams {
  return new URLSearchParams({ ...(prefix === '' ? {} : { prefix }), ...(at === null ? {} : { at }) });
}

export function settingsUrl(bucket: string): string {
  return `/buckets/${encodeURIComponent(bucket)}/settings`;
}

export function objectUrl(bucket: string, prefix: string, key: string, at: string | null = null): string {
  const query = folderQuery(prefix, at);
  query.set('object', key);
  return `/buckets/${encodeURIComponent(bucket)}?${query}`;
}

/** Returns the part of a key after the prefix; the whole key where it does not begin with the prefix. */
export function nameIn(prefix: string, key: string): string {
  return (key.startsWith(prefix) && key.slice(prefix.length)) || key;
}
