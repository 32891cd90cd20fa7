/** An object as it is stored. What the store hands out is never changed in place: changes are made on a copy. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: Meta;
  [field: string]: unknown;
}

export interface Meta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: Owner[];
  finalizers?: string[];
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  managedFields?: ManagedFields[];
}

export interface Owner {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFields {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  subresource?: string;
  time: string;
  fieldsType: 'FieldsV1';
  fieldsV1: FieldTree;
}

/** As `fieldsV1` of the real one: `f:NAME`, `k:{KEYS}`, `v:VALUE`; `.` where a list's item is owned itself. */
export interface FieldTree {
  [segment: string]: FieldTree;
}

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `apps/v1` and `StatefulSet` of `statefulsets.apps`. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}

/** RFC 3339 in whole seconds, as `metav1.Time`. */
export function timestamp(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}

/** Equal as JSON, whatever the order of fields. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => sameJson(item, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left).filter((key) => left[key] !== undefined);
  return (
    keys.length === Object.keys(right).filter((key) => right[key] !== undefined).length &&
    keys.every((key) => sameJson(left[key], right[key]))
  );
}
