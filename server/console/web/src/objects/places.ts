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
