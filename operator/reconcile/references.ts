/** Names of the Secrets and ConfigMaps that a spec refers to. */
export interface References {
  readonly secrets: ReadonlySet<string>;
  readonly configMaps: ReadonlySet<string>;
}

const known = new WeakMap<object, References>();

/**
 * What a resource refers to, by the names of its fields, so that a field new to the schema is found too: `secretName`,
 * `clientSecretRef.name`, `valueFrom.configMapKeyRef.name`. One too many costs a pass, one too few a missed change.
 */
export function referencesOf(object: { readonly spec: unknown }): References {
  const before = known.get(object);
  if (before !== undefined) return before;
  const secrets = new Set<string>();
  const configMaps = new Set<string>();
  collect(object.spec, '', secrets, configMaps);
  const found = { secrets, configMaps };
  known.set(object, found);
  return found;
}

function collect(node: unknown, path: string, secrets: Set<string>, configMaps: Set<string>): void {
  if (node === null || typeof node !== 'object') return;
  for (const [key, value] of Object.entries(node)) {
    if (typeof value !== 'string') collect(value, Array.isArray(node) ? path : key, secrets, configMaps);
    else if (key === 'name' || /name$/i.test(key)) {
      const field = key === 'name' ? path : key;
      if (/secret/i.test(field)) secrets.add(value);
      if (/configmap/i.test(field)) configMaps.add(value);
    }
  }
}
