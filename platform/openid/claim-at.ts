/** What separates the names of a path. Keycloak's users write `realm_access.roles`. */
const separator = /[/.]/g;

/**
 * The value of a claim by its name, or by a path with `/` or `.` where it lies within others: `kubernetes.io/serviceaccount/name`,
 * `realm_access.roles`. A claim whose own name has a separator comes first.
 */
export function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  for (const { index } of path.matchAll(separator)) {
    const name = path.slice(0, index);
    const inner = Object.hasOwn(claims, name) ? claims[name] : undefined;
    if (isObject(inner)) return claimAt(inner, path.slice(index + 1));
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
