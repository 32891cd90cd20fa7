import type { Json } from '../runtime/contract/workload.ts';

/**
 * The Kubernetes API as the operator uses it: plain JSON, no typed serialisers, which drop fields they do not know.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/
 */
export interface KubeApi {
  get(type: ResourceType, namespace: string | undefined, name: string): Promise<KubeObject | undefined>;
  /** One page; `continue` of the answer asks for the next. */
  list(type: ResourceType, options: ListOptions): Promise<KubeList>;
  /** Changes since `resourceVersion`. Ends when the server ends it; errors with a `KubeError` (410 Gone among them). */
  watch(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent>;
  /** Errors with a `KubeError` of reason `AlreadyExists` where there is one. */
  create(object: KubeObject): Promise<KubeObject>;
  /** Server-side apply as the one field manager `coffer-operator`, taking owned fields over by force. */
  apply(object: KubeObject): Promise<KubeObject>;
  /** The same on the status subresource. */
  applyStatus(object: KubeObject): Promise<KubeObject>;
  /** JSON merge patch. */
  patch(type: ResourceType, namespace: string | undefined, name: string, patch: Json): Promise<KubeObject>;
  /** Resolves where there is none. */
  delete(type: ResourceType, namespace: string | undefined, name: string, options?: DeleteOptions): Promise<void>;
}

export interface ResourceType {
  /** `apps/v1`, `v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

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
  /** Kept by a cache in place of `managedFields`, where it is asked to. Never sent. */
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
  /** All namespaces without it. */
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

/** What the API server answered instead of the object: its Status, or why there was no answer. */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  /** HTTP status; undefined where there was no answer. */
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

/** What a reflector keeps of one type of resource: reads cost nothing and never wait. */
export interface Cache {
  readonly type: ResourceType;
  get(namespace: string, name: string): KubeObject | undefined;
  list(namespace?: string): readonly KubeObject[];
  /** Objects whose label `coffer.dev/workload` is this. */
  ofWorkload(namespace: string, workload: string): readonly KubeObject[];
  /** Takes what an own write was answered, so that the next pass does not act on what was before it. */
  wrote(object: KubeObject): void;
  deleted(namespace: string, name: string): void;
  /** Every change, also those by `wrote`. `before` is undefined for a new object, `after` for a deleted one. */
  onChange(listener: (before: KubeObject | undefined, after: KubeObject | undefined) => void): void;
  /** Resolves after the first complete list. */
  synced(): Promise<void>;
}

/** A tree of `fieldsV1`: `f:NAME`, `k:{KEYS}` of an item of a list, `v:VALUE`. */
export interface FieldTree {
  readonly [segment: string]: FieldTree;
}

/** Fields of a spec that another than the operator wrote. */
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

/** The one field manager of the operator, as `KubeClient` names it. */
const own = 'coffer-operator';

/**
 * What others wrote into the spec of an object that the operator applies. What a subresource was used for (a status, a scale) does not
 * count, nor what the server filled in, which nobody owns.
 *
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
export function foreignFields(object: KubeObject): readonly ForeignFields[] {
  return managedFieldsOf(object).flatMap(({ manager = 'unknown', subresource, fieldsV1 }) => {
    const fields = fieldsV1?.['f:spec'];
    return manager === own || subresource !== undefined || fields === undefined ? [] : [{ manager, fields }];
  });
}

/** The entries of an object without those by which others own a part of its spec, and without its own but those of apply. */
export function withoutForeign(object: KubeObject): readonly object[] {
  return managedFieldsOf(object).filter(
    ({ manager, operation, subresource, fieldsV1 }) =>
      subresource !== undefined || (manager === own ? operation === 'Apply' : fieldsV1?.['f:spec'] === undefined),
  );
}

function managedFieldsOf({ metadata }: KubeObject): readonly ManagedFields[] {
  return (metadata as { readonly managedFields?: readonly ManagedFields[] }).managedFields ?? [];
}
