/** An object as it is stored. What the store hands out is never changed in place: changes are made on a copy. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: Meta;
  [field: string]: unknown;
}

interface Meta {
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

/** An answer other than success, as the Status object that the real server gives. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;
  readonly causes: readonly Cause[];

  constructor(
    code: number,
    reason: string,
    message: string,
    causes: readonly Cause[] = [],
    retryAfterSeconds?: number,
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.causes = causes;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  static notFound(resource: string, name: string): ApiError {
    return new ApiError(404, 'NotFound', `${resource} "${name}" not found`);
  }

  static alreadyExists(resource: string, name: string): ApiError {
    return new ApiError(409, 'AlreadyExists', `${resource} "${name}" already exists`);
  }

  static conflict(resource: string, name: string, why: string): ApiError {
    return new ApiError(409, 'Conflict', `Operation cannot be fulfilled on ${resource} "${name}": ${why}`);
  }

  static invalid(kind: string, name: string, causes: readonly Cause[]): ApiError {
    const all = causes.map(({ field, message }) => `${field}: ${message}`).join(', ');
    return new ApiError(422, 'Invalid', `${kind} "${name}" is invalid: ${all}`, causes);
  }

  static badRequest(message: string): ApiError {
    return new ApiError(400, 'BadRequest', message);
  }

  static expired(message: string): ApiError {
    return new ApiError(410, 'Expired', message);
  }

  get status(): object {
    const details = {
      ...(this.causes.length > 0
        ? { causes: this.causes.map((cause) => ({ reason: 'FieldValueInvalid', ...cause })) }
        : {}),
      ...(this.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: this.retryAfterSeconds }),
    };
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      details,
      code: this.code,
    };
  }
}

export interface Cause {
  /** `FieldValueInvalid` without it. */
  readonly reason?: string;
  readonly field: string;
  readonly message: string;
}
