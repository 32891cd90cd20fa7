/**
 * What the policy of a tenant's server allows at the key service: the nine paths of the specification, and `describe`, with which a
 * client tells whether a key exists. A prefix keeps tenants of one key service apart.
 */
export function tenantKeyPaths(keyPrefix: string): readonly string[] {
  const keys = `${keyPrefix}*`;
  return [
    `/v1/key/create/${keys}`,
    `/v1/key/describe/${keys}`,
    `/v1/key/generate/${keys}`,
    `/v1/key/decrypt/${keys}`,
    `/v1/key/bulk/decrypt/${keys}`,
    // Without a pattern it covers every list.
    keyPrefix === '' ? '/v1/key/list' : `/v1/key/list/${keys}`,
    '/v1/status',
    '/v1/metrics',
    '/v1/log/audit',
    '/v1/log/error',
  ];
}

/** What the operator may do at a key service that it asks whether it holds the keys of a tenant: open what these keys sealed. */
export function proofKeyPaths(keyPrefix: string): readonly string[] {
  return [`/v1/key/describe/${keyPrefix}*`, `/v1/key/decrypt/${keyPrefix}*`];
}

/** Two tenants whose prefixes overlap: one could use the other's keys. The later name of each pair, with the earlier. */
export function overlappingPrefixes(
  tenants: readonly { readonly name: string; readonly keyPrefix: string }[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const sorted = tenants.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const [index, tenant] of sorted.entries()) {
    const other = sorted
      .slice(0, index)
      .find(({ keyPrefix }) => keyPrefix.startsWith(tenant.keyPrefix) || tenant.keyPrefix.startsWith(keyPrefix));
    if (other !== undefined) found.set(tenant.name, other.name);
  }
  return found;
}
