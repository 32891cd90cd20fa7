/**
 * The value of a claim by its name, or by a path with `/` where it lies within others: `kubernetes.io/serviceaccount/name`,
 * `realm_access/roles`. A claim whose own name has a `/` comes first.
 */
export function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let slash = path.indexOf('/');
  while (slash >= 0) {
    const inner = Object.hasOwn(claims, path.slice(0, slash)) ? claims[path.slice(0, slash)] : undefined;
    if (isObject(inner)) return claimAt(inner, path.slice(slash + 1));
    slash = path.indexOf('/', slash + 1);
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
