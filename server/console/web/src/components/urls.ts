/** Pages about one thing. Names are query parameters, since they are no paths: browsers would resolve `..` away. */
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

/** The page that explains, with the question begun. */
export function explainUrl(who: string): string {
  return `/explain?${new URLSearchParams({ who })}`;
}

/**
 * Pages of the object browser. Prefix and key are query parameters, since keys are no paths: browsers would resolve `..` away.
 */
export function folderUrl(bucket: string, prefix: string): string {
  const query = prefix === '' ? '' : `?${new URLSearchParams({ prefix })}`;
  return `/buckets/${encodeURIComponent(bucket)}${query}`;
}

export function objectUrl(bucket: string, prefix: string, key: string): string {
  const query = new URLSearchParams({ ...(prefix === '' ? {} : { prefix }), object: key });
  return `/buckets/${encodeURIComponent(bucket)}?${query}`;
}

/** What a row is called: the part behind the prefix. */
export function nameIn(prefix: string, key: string): string {
  return key.slice(prefix.length) || key;
}
