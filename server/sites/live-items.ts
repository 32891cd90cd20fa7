import { decodeBucket } from '../objects/records/bucket-record.ts';
import { isUnreadable } from '../objects/records/damage.ts';
import { decodeKey, within } from '../store/keys.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { BucketItems } from './bucket-items.ts';
import { digestOf, type Item, itemId, type ItemKey, type ItemKind, type ItemSource } from './site-items.ts';
import type { LiveItem } from './site-ledger.ts';

interface LiveItemsOptions {
  readonly records: Pick<RecordStore, 'scan'>;
  readonly identities: ItemSource;
  /** A number that changes with each change of identities. */
  readonly identityRevision: () => Promise<number | undefined>;
  readonly buckets: BucketItems;
}

interface LiveScan {
  readonly items: readonly LiveItem[];
  /** The buckets whose records are damaged. */
  readonly unreadable: ReadonlySet<string>;
}

/** The items of a site by id. */
interface LiveItemsOfSite extends Pick<LiveScan, 'unreadable'> {
  readonly items: ReadonlyMap<string, LiveItem>;
}

/** The items of this site, with digests. A scan reads again only what has changed. */
export class LiveItems {
  readonly #options: LiveItemsOptions;
  #identities:
    { readonly secret: string; readonly revision: number | undefined; readonly items: readonly LiveItem[] } | undefined;
  readonly #buckets = new Map<
    string,
    { readonly secret: string; readonly revision: number; readonly items: readonly LiveItem[] }
  >();

  constructor(options: LiveItemsOptions) {
    this.#options = options;
  }

  /** Lists the items of these kinds by id. */
  async scan(secret: string, kinds: ReadonlySet<ItemKind>): Promise<LiveItemsOfSite> {
    const { items, unreadable } = await this.#bucketItems(secret);
    const all = [...(await this.#identityItems(secret)), ...items];
    return {
      items: new Map(all.flatMap((item) => (kinds.has(item.kind) ? [[itemId(item), item]] : []))),
      unreadable,
    };
  }

  /** The revisions of all buckets of the last scan, as one text. */
  get bucketRevisions(): string {
    return [...this.#buckets].map(([name, { revision }]) => `${name}:${revision}`).join(' ');
  }

  sourceOf({ kind }: ItemKey): ItemSource {
    const { identities, buckets } = this.#options;
    return identities.kinds.includes(kind) ? identities : buckets;
  }

  /** Returns the digest of an item as it is now; undefined where it is not there. */
  async digest(secret: string, key: ItemKey): Promise<string | undefined> {
    const value = await this.sourceOf(key).read(key);
    return value === undefined ? undefined : digestOf(secret, key, value);
  }

  /** Returns the settings that a bucket has now. */
  async settingsOf(secret: string, bucket: string): Promise<readonly LiveItem[]> {
    const items = await this.#options.buckets.of(bucket);
    return items.filter(({ kind }) => kind !== 'bucket').map((item) => liveItem(secret, item));
  }

  async #identityItems(secret: string): Promise<readonly LiveItem[]> {
    const { identities, identityRevision } = this.#options;
    const revision = await identityRevision();
    if (this.#identities?.secret !== secret || this.#identities.revision !== revision) {
      const items: LiveItem[] = [];
      for await (const item of identities.list()) items.push(liveItem(secret, item));
      this.#identities = { secret, revision, items };
    }
    return this.#identities.items;
  }

  async #bucketItems(secret: string): Promise<LiveScan> {
    const { records, buckets } = this.#options;
    const names = new Set<string>();
    const unreadable = new Set<string>();
    for await (const item of records.scan(within('b'))) {
      if (item.kind !== 'entry') continue;
      const name = String(decodeKey(item.key)[1]);
      names.add(name);
      const known = this.#buckets.get(name);
      if (known?.revision === item.revision && known.secret === secret) continue;
      try {
        const record = decodeBucket(item.value, name);
        const timeOf = ({ kind }: Item) => (kind === 'bucket' ? record.created : (record.changed ?? record.created));
        const items = (await buckets.of(name)).map((one) => liveItem(secret, { ...one, updatedAt: timeOf(one) }));
        this.#buckets.set(name, { secret, revision: item.revision, items });
      } catch (error) {
        // A bucket that cannot be read is not removed elsewhere.
        if (!isUnreadable(error)) throw error;
        unreadable.add(name);
      }
    }
    for (const name of this.#buckets.keys()) if (!names.has(name)) this.#buckets.delete(name);
    return { items: [...this.#buckets.values()].flatMap(({ items }) => items), unreadable };
  }
}

function liveItem(secret: string, { kind, name, value, updatedAt }: Item): LiveItem {
  return { kind, name, digest: digestOf(secret, { kind, name }, value), ...(updatedAt !== undefined && { updatedAt }) };
}
