/** A Tenant whose status names a deployment. */
export interface StoreHolder {
  /** `NAMESPACE/NAME`. */
  readonly at: string;
  /** Its `metadata.creationTimestamp`; empty with the local runtime. */
  readonly created: string;
  /** Set where it accepted the store by its annotation, so that the store may be a copy. */
  readonly accepted: boolean;
  /** Set where it is to run servers that follow its spec: it is neither hibernated nor paused. */
  readonly serves: boolean;
}

/**
 * Reports whether the first of two Tenants that recorded one store keeps it. The original wins against a copy that was accepted, and a Tenant that
 * serves against one that a move left behind. Between equals the one that was made first wins, and of two of one second the first by name. Every
 * operator decides the same.
 */
export function keepsStore(one: StoreHolder, other: StoreHolder): boolean {
  if (one.accepted !== other.accepted) return other.accepted;
  if (one.serves !== other.serves) return one.serves;
  return one.created === other.created ? one.at < other.at : one.created < other.created;
}
