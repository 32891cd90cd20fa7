import type { Json } from '../contract/workload.ts';

/**
 * The Kubernetes API as the operator uses it: plain JSON, no typed serialisers, which drop fields they do not know.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/
 */
export interface KubeApi {
  get(type: ResourceType, namespace: string | undefined, name: string): Promise<KubeObject | undefined>;
  /** Returns one page. The `continue` of the answer asks for the next. */
  list(type: ResourceType, options: ListOptions): Promise<KubeList>;
  /** Yields the changes since `resourceVersion` until the server ends the stream. Errors with a `KubeError`, such as 410 Gone. */
  watch(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent>;
  /** Errors with a `KubeError` of reason `AlreadyExists` when the object exists. */
  create(object: KubeObject): Promise<KubeObject>;
  /** Applies the object on the server as the field manager `coffer-operator`. It takes over fields that others own. */
  apply(object: KubeObject): Promise<KubeObject>;
  /** Applies the status subresource in the same way. */
  applyStatus(object: KubeObject): Promise<KubeObject>;
  /** Sends a JSON merge patch. */
  patch(type: ResourceType, namespace: string | undefined, name: string, patch: Json): Promise<KubeObject>;
  /** Resolves also when the object does not exist. */
  delete(type: ResourceType, namespace: string | undefined, name: string, options?: DeleteOptions): Promise<void>;
}

export interface ResourceType {
  /** `apps/v1`, `v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /**
   * False for a type of which the API server sends no bookmarks. It has no watch cache of events: a watch reads etcd, and is silent
   * until an event comes.
   */
  readonly hasBookmarks?: false;
}

/** Milliseconds without a byte after which a watch counts as dead: the first bookmark may take two minutes. */
export const watchInactivityMs = 150_000;

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  /** A cache keeps this instead of `managedFields` when its options ask for it. It is never sent. */
  readonly foreign?: readonly ForeignFields[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ListOptions {
  /** Undefined means all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly signal?: AbortSignal;
}

export interface WatchOptions extends Omit<ListOptions, 'limit' | 'continue'> {
  readonly resourceVersion: string;
  readonly timeoutSeconds?: number;
}

export interface KubeList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continue?: string;
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: KubeObject }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

export interface DeleteOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
}

/**
 * The API server answered with an error Status, or did not answer. It is not a `ResponseError`: the operator calls tenants too, and a
 * failed tenant must not count as a failed API server.
 */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** `NotFound`, `Conflict`, `Expired`, … as in the Status object. */
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  /** Reasons of the causes in the details of the Status, such as `NamespaceTerminating`. */
  readonly causes: readonly string[];

  constructor(
    status: number | undefined,
    reason: string,
    message: string,
    retryAfterMs?: number,
    options?: ErrorOptions & { readonly causes?: readonly string[] },
  ) {
    super(message, options);
    this.causes = options?.causes ?? [];
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Reports whether the API server itself says that an object does not exist. A proxy before it answers 404 too. */
export function isNotFound(error: unknown): boolean {
  return error instanceof KubeError && error.status === 404 && error.reason === 'NotFound';
}

/** The objects of one resource type that a reflector keeps in memory. Reads never wait. */
export interface Cache {
  readonly type: ResourceType;
  get(namespace: string, name: string): KubeObject | undefined;
  list(namespace?: string): readonly KubeObject[];
  /** Objects whose label `coffer.dev/workload` is this. */
  ofWorkload(namespace: string, workload: string): readonly KubeObject[];
  /** Stores the answer to a write of the operator, so that the next reconcile does not act on the state before it. */
  wrote(object: KubeObject): void;
  deleted(namespace: string, name: string): void;
  /** Reports every change, also those by `wrote`. `before` is undefined for a new object, `after` for a deleted one. */
  onChange(listener: (before: KubeObject | undefined, after: KubeObject | undefined) => void): void;
  /** Resolves after the first complete list. */
  synced(): Promise<void>;
}

/** A tree of `fieldsV1`: `f:NAME`, `k:{KEYS}` of an item of a list, `v:VALUE`. */
export interface FieldTree {
  readonly [segment: string]: FieldTree;
}

/** Fields of a spec that another field manager wrote. */
export interface ForeignFields {
  readonly manager: string;
  /** Below `spec`. */
  readonly fields: FieldTree;
}

interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: FieldTree;
}

/** The field manager of the operator, as `KubeClient` names it. */
const own = 'coffer-operator';

/**
 * Returns the spec fields that other managers wrote into an object that the operator applies. Fields written through a subresource
 * (a status, a scale) do not count, nor do defaults of the server, which have no owner.
 *
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
export function foreignFields(object: KubeObject): readonly ForeignFields[] {
  return managedFieldsOf(object).flatMap(({ manager = 'unknown', subresource, fieldsV1 }) => {
    const fields = fieldsV1?.['f:spec'];
    return manager === own || subresource !== undefined || fields === undefined ? [] : [{ manager, fields }];
  });
}

/** Returns the managed-field entries without those of other owners of the spec, and without the operator's own that are no apply. */
export function withoutForeign(object: KubeObject): readonly object[] {
  return managedFieldsOf(object).filter(
    ({ manager, operation, subresource, fieldsV1 }) =>
      subresource !== undefined || (manager === own ? operation === 'Apply' : fieldsV1?.['f:spec'] === undefined),
  );
}

function managedFieldsOf({ metadata }: KubeObject): readonly ManagedFields[] {
  return (metadata as { readonly managedFields?: readonly ManagedFields[] }).managedFields ?? [];
}
