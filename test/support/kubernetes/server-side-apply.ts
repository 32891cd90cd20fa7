import {
  isObject,
  sameJson,
  timestamp,
  type ApiObject,
  type JsonObject,
  type ManagedFields,
  ApiError,
} from './api-object.ts';
import {
  fieldsOf,
  isAtomic,
  isSet,
  isUnder,
  itemSegment,
  listKeys,
  pathsOf,
  removeAt,
  segmentsOf,
  treeOf,
  valueAt,
  type FieldPath,
} from './field-paths.ts';

export interface FieldManager {
  readonly name: string;
  readonly subresource: string | undefined;
}

const unowned: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'generateName',
]);

/** What of an object can be owned. */
function ownable(object: JsonObject): JsonObject {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const meta = Object.entries(isObject(metadata) ? metadata : {}).filter(([key]) => !unowned.has(key));
  return meta.length === 0 ? rest : { ...rest, metadata: Object.fromEntries(meta) };
}

/**
 * Server-side apply: the fields of `applied` become the manager's, those that it owned and no longer names go, unless another owns
 * them too. A field that another manager owns with another value is a conflict, which `force` takes over.
 *
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/
 */
export function applyFields(live: ApiObject, applied: JsonObject, manager: FieldManager, force: boolean): ApiObject {
  const entries = live.metadata.managedFields ?? [];
  const own = entries.find((entry) => isOf(entry, manager, 'Apply'));
  const wanted = ownable(applied);
  const next = new Set(fieldsOf(wanted));
  const others = entries.filter((entry) => entry !== own).map((entry) => ({ entry, paths: pathsOf(entry.fieldsV1) }));
  const conflicts = others.flatMap(({ entry, paths }) =>
    paths
      .filter((path) => next.has(path) && !sameAt(live, wanted, path))
      .map((path) => ({ field: path.replaceAll('\u0000', ''), message: `conflict with "${entry.manager}"`, path })),
  );
  if (conflicts.length > 0 && !force) {
    const all = conflicts.map(({ field, message }) => `${message}: ${field}`).join(', ');
    throw new ApiError(409, 'Conflict', `Apply failed with ${conflicts.length} conflicts: ${all}`, conflicts);
  }
  const merged = merge(live, wanted, '') as ApiObject;
  const taken = new Set(conflicts.map(({ path }) => path));
  const kept = others.map(({ entry, paths }) => ({ entry, paths: paths.filter((path) => !taken.has(path)) }));
  removeFormer(
    merged,
    own === undefined ? [] : pathsOf(own.fieldsV1),
    next,
    new Set(kept.flatMap(({ paths }) => paths)),
  );
  const mine = newEntry(live.apiVersion, manager, 'Apply', next, own);
  merged.metadata.managedFields = [
    ...kept.filter(({ paths }) => paths.length > 0).map(({ entry, paths }) => ({ ...entry, fieldsV1: treeOf(paths) })),
    ...(next.size > 0 ? [mine] : []),
  ].sort((a, b) => (a.manager < b.manager ? -1 : 1));
  return merged;
}

/** Ownership after an update or a patch: what changed belongs to who changed it, what is gone to nobody. */
export function recordUpdate(before: ApiObject | undefined, after: ApiObject, manager: FieldManager): ApiObject {
  const wanted = ownable(after);
  const [fields, formerly] = [fieldsOf(wanted), before === undefined ? {} : ownable(before)];
  const present = new Set(fields);
  const changed = new Set(fields.filter((path) => !sameAt(formerly, wanted, path)));
  const entries = before?.metadata.managedFields ?? [];
  const own = entries.find((entry) => isOf(entry, manager, 'Update'));
  const rest = entries
    .filter((entry) => entry !== own)
    .map((entry) => ({
      entry,
      paths: pathsOf(entry.fieldsV1).filter((path) => present.has(path) && !changed.has(path)),
    }));
  const mine = new Set([
    ...(own === undefined ? [] : pathsOf(own.fieldsV1).filter((path) => present.has(path))),
    ...changed,
  ]);
  const managedFields = [
    ...rest.filter(({ paths }) => paths.length > 0).map(({ entry, paths }) => ({ ...entry, fieldsV1: treeOf(paths) })),
    ...(mine.size > 0 ? [newEntry(after.apiVersion, manager, 'Update', mine, own)] : []),
  ].sort((a, b) => (a.manager < b.manager ? -1 : 1));
  return { ...after, metadata: { ...after.metadata, managedFields } };
}

function isOf(entry: ManagedFields, manager: FieldManager, operation: 'Apply' | 'Update'): boolean {
  return entry.manager === manager.name && entry.operation === operation && entry.subresource === manager.subresource;
}

function newEntry(
  apiVersion: string,
  { name, subresource }: FieldManager,
  operation: 'Apply' | 'Update',
  paths: Iterable<FieldPath>,
  former: ManagedFields | undefined,
): ManagedFields {
  const fieldsV1 = treeOf(paths);
  const time = former !== undefined && sameJson(former.fieldsV1, fieldsV1) ? former.time : timestamp();
  const place = subresource === undefined ? {} : { subresource };
  return { manager: name, operation, apiVersion, time, fieldsType: 'FieldsV1', fieldsV1, ...place };
}

/** An item of a map list is there or not; all else is compared by value. */
function sameAt(left: JsonObject, right: JsonObject, path: FieldPath): boolean {
  const segments = segmentsOf(path);
  const [before, after] = [valueAt(left, segments), valueAt(right, segments)];
  if (segments.at(-1)?.startsWith('k:') === true) return (before === undefined) === (after === undefined);
  return sameJson(before, after);
}

function removeFormer(
  merged: JsonObject,
  former: readonly FieldPath[],
  next: ReadonlySet<FieldPath>,
  others: ReadonlySet<FieldPath>,
): void {
  const gone = former.filter((path) => !next.has(path) && !others.has(path));
  for (const path of gone) {
    const stillOwned = (set: ReadonlySet<FieldPath>): boolean => set.values().some((other) => isUnder(other, path));
    if (!stillOwned(next) && !stillOwned(others)) removeAt(merged, segmentsOf(path));
  }
}

function merge(live: unknown, applied: unknown, field: string): unknown {
  if (isObject(live) && isObject(applied) && !isAtomic(field)) {
    const merged: JsonObject = { ...live };
    for (const [key, value] of Object.entries(applied)) {
      if (value !== undefined) merged[key] = key in live ? merge(live[key], value, key) : structuredClone(value);
    }
    return merged;
  }
  if (Array.isArray(live) && Array.isArray(applied)) return mergeLists(live, applied, field);
  return structuredClone(applied);
}

function mergeLists(live: readonly unknown[], applied: readonly unknown[], field: string): unknown {
  if (isSet(field)) return [...new Set([...live, ...applied])];
  const keys = listKeys(field, [...live, ...applied]);
  if (keys === undefined || applied.length === 0) return structuredClone(applied);
  const [before, after] = [live as JsonObject[], applied as JsonObject[]];
  const segment = (item: JsonObject): string => itemSegment(item, keys);
  const wanted = new Set(after.map(segment));
  const kept = before.filter((item) => !wanted.has(segment(item)));
  return [
    ...after.map((item) => {
      const former = before.find((other) => segment(other) === segment(item));
      return former === undefined ? structuredClone(item) : merge(former, item, '');
    }),
    ...kept,
  ];
}
