import type { Instant } from '../contract/instant.ts';
import type { ReplicationState } from '../contract/objects.ts';

/** The attributes of a version that change by themselves, with the last change of each. */
export type AttributeChanges = { readonly [Name in 'tags' | 'retention' | 'legalHold' | 'metadata']?: AttributeChange };

interface AttributeChange {
  readonly at: Instant;
  /** The deployment where a client made the change, if that is another one. */
  readonly by?: string;
}

export type Attribute = keyof AttributeChanges;

interface Changed {
  readonly modified: number;
  readonly changes?: AttributeChanges;
  readonly replication?: ReplicationState;
}

/** Returns when each attribute changed last. */
export function changesOf(record: Changed): Readonly<Record<Attribute, Instant>> {
  const at = (name: Attribute) => changeOf(record, name);
  return { tags: at('tags'), retention: at('retention'), legalHold: at('legalHold'), metadata: at('metadata') };
}

/**
 * Returns when an attribute changed last. An attribute that never changed is as old as its version. A record of format 3 has one time for all
 * attributes, which says nothing of locks: a lock of another server would end by a change of tags here.
 */
function changeOf({ changes, replication, modified }: Changed, attribute: Attribute): Instant {
  if (changes !== undefined) return changes[attribute]?.at ?? modified;
  const isLock = attribute === 'retention' || attribute === 'legalHold';
  return isLock ? modified : (replication?.changed ?? modified);
}
