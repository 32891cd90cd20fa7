import { createHmac } from 'node:crypto';

/** The kinds of what sites replicate, in the order in which they can be made. They are removed in the reverse order. */
export const itemKinds = [
  'policy',
  'user',
  'group',
  'attachment',
  'service-account',
  'bucket',
  'bucket-versioning',
  // Object lock needs versioning.
  'bucket-objectLock',
  // A block refuses a public policy: it must be there first.
  'bucket-publicAccessBlock',
  'bucket-policy',
  'bucket-tags',
  'bucket-encryption',
  'bucket-cors',
  'bucket-quota',
  'bucket-website',
  'bucket-lifecycle',
] as const;

export type ItemKind = (typeof itemKinds)[number];

export interface ItemKey {
  readonly kind: ItemKind;
  readonly name: string;
}

/** A policy, a user, a setting of a bucket, and the like. */
export interface Item extends ItemKey {
  /** JSON. */
  readonly value: unknown;
  /** Milliseconds since 1970, where the record has the time of its last change. */
  readonly updatedAt?: number;
}

/** A store of items of some kinds. Values are JSON; a value of another site is checked before it is written. */
export interface ItemSource {
  readonly kinds: readonly ItemKind[];
  list(): AsyncIterable<Item>;
  read(key: ItemKey): Promise<unknown>;
  write(key: ItemKey, value: unknown): Promise<void>;
  /** Does nothing where there is no such item. */
  remove(key: ItemKey): Promise<void>;
}

export function itemId({ kind, name }: ItemKey): string {
  return `${kind}:${name}`;
}

/** Returns the bucket that a setting is of. */
export function bucketOfSetting({ kind, name }: ItemKey): string | undefined {
  return kind.startsWith('bucket-') ? name : undefined;
}

/**
 * Returns the digest by which sites compare a value. It is keyed with the secret of the sites: the values have secret keys, which a plain
 * digest would let others guess.
 */
export function digestOf(secret: string, { kind, name }: ItemKey, value: unknown): string {
  const mac = createHmac('sha256', secret);
  return mac
    .update(`${kind}\0${name}\0${canonical(value)}`)
    .digest('hex')
    .slice(0, 32);
}

/** JSON with sorted names, so that equal values have one text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
