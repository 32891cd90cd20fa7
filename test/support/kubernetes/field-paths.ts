import { isObject, type FieldTree, type JsonObject } from './api-object.ts';

/** Segments of `fieldsV1`, joined by a character that no segment has. */
export type FieldPath = string;
const separator = '\u0000';

/** Keys of the lists that are maps; every other list is one value. By field name, or by the parent's name and field name. */
const mapLists: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  volumes: ['name'],
  env: ['name'],
  imagePullSecrets: ['name'],
  volumeMounts: ['mountPath'],
  conditions: ['type'],
  // Of the project's own kinds.
  identityProviders: ['name'],
  settings: ['name'],
  certificates: ['name'],
  ownerReferences: ['uid'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
};
const servicePorts = ['port', 'protocol'];
const containerPorts = ['containerPort', 'protocol'];
const sets: ReadonlySet<string> = new Set(['finalizers']);
/** Objects that are one value. */
const atomic: ReadonlySet<string> = new Set([
  'selector',
  'labelSelector',
  'podSelector',
  'namespaceSelector',
  'nodeSelector',
  'secretKeyRef',
  'configMapKeyRef',
  'fieldRef',
]);

/** What a list's items are told apart by; undefined where the list is one value. */
export function listKeys(field: string, items: readonly unknown[]): readonly string[] | undefined {
  const objects = items.filter(isObject);
  if (items.length === 0 || objects.length !== items.length) return undefined;
  const keys =
    field !== 'ports'
      ? mapLists[field]
      : objects.every((item) => 'containerPort' in item)
        ? containerPorts
        : servicePorts;
  if (keys === undefined) return undefined;
  return objects.every((item) => keys.some((key) => key in item)) ? keys : undefined;
}

export function itemSegment(item: JsonObject, keys: readonly string[]): string {
  const values = keys.map((key) => [key, item[key] ?? (key === 'protocol' ? 'TCP' : undefined)] as const);
  return `k:${JSON.stringify(Object.fromEntries(values))}`;
}

export function isAtomic(field: string): boolean {
  return atomic.has(field);
}

export function isSet(field: string): boolean {
  return sets.has(field);
}

/** Every field that the value sets, leaves and items of map lists. */
export function fieldsOf(value: unknown, field = '', path: readonly string[] = []): FieldPath[] {
  const here = path.length === 0 ? [] : [path.join(separator)];
  if (isObject(value)) {
    const keys = Object.keys(value).filter((key) => value[key] !== undefined);
    if (keys.length === 0 || isAtomic(field)) return here;
    return keys.flatMap((key) => fieldsOf(value[key], key, [...path, `f:${key}`]));
  }
  if (Array.isArray(value) && isSet(field)) {
    return value.map((item) => [...path, `v:${JSON.stringify(item)}`].join(separator));
  }
  const keys = Array.isArray(value) ? listKeys(field, value) : undefined;
  if (!Array.isArray(value) || keys === undefined) return here;
  return (value as JsonObject[]).flatMap((item) => {
    const itemPath = [...path, itemSegment(item, keys)];
    return [itemPath.join(separator), ...fieldsOf(item, '', itemPath)];
  });
}

export function segmentsOf(path: FieldPath): string[] {
  return path.split(separator);
}

export function isUnder(path: FieldPath, root: FieldPath): boolean {
  return path === root || path.startsWith(root + separator);
}

export function treeOf(paths: Iterable<FieldPath>): FieldTree {
  const tree: FieldTree = {};
  for (const path of [...paths].sort()) {
    let node = tree;
    for (const segment of segmentsOf(path)) node = node[segment] ??= {};
    if (segmentsOf(path).at(-1)?.startsWith('k:') === true) node['.'] = {};
  }
  return tree;
}

export function pathsOf(tree: FieldTree, path: readonly string[] = []): FieldPath[] {
  const segments = Object.keys(tree);
  if (segments.length === 0) return path.length === 0 ? [] : [path.join(separator)];
  return segments.flatMap((segment) =>
    segment === '.' ? [path.join(separator)] : pathsOf(tree[segment] ?? {}, [...path, segment]),
  );
}

function itemMatching(segment: string): (item: unknown) => boolean {
  if (segment.startsWith('v:')) return (item) => JSON.stringify(item) === segment.slice(2);
  const keys = Object.keys(JSON.parse(segment.slice(2)) as object);
  return (item) => isObject(item) && itemSegment(item, keys) === segment;
}

export function valueAt(value: unknown, segments: readonly string[]): unknown {
  return segments.reduce<unknown>((node, segment) => {
    if (segment.startsWith('f:')) return isObject(node) ? node[segment.slice(2)] : undefined;
    return Array.isArray(node) ? (node.find(itemMatching(segment)) as unknown) : undefined;
  }, value);
}

/** Takes the field out of the object, in place, and what it leaves empty above it. */
export function removeAt(root: JsonObject, segments: readonly string[]): void {
  const parent = valueAt(root, segments.slice(0, -1));
  const last = segments.at(-1) ?? '';
  if (last.startsWith('f:') && isObject(parent)) {
    const { [last.slice(2)]: gone, ...rest } = parent;
    if (gone === undefined) return;
    delete parent[last.slice(2)];
    if (Object.keys(rest).length > 0) return;
  } else if (Array.isArray(parent)) {
    const index = parent.findIndex(itemMatching(last));
    if (index === -1) return;
    parent.splice(index, 1);
    if (parent.length > 0) return;
  } else return;
  const above = segments.at(-2);
  if (above?.startsWith('f:') === true && segments.length > 2) removeAt(root, segments.slice(0, -1));
}
