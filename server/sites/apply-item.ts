import type { StructuredLog } from '../../platform/output/structured-log.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { LiveItems } from './live-items.ts';
import { bucketOfSetting, digestOf, itemId } from './site-items.ts';
import type { Ledger, LedgerEntry } from './site-ledger.ts';
import type { SiteState } from './site-state.ts';

interface ApplierOptions {
  readonly live: LiveItems;
  readonly clock: () => number;
  readonly log: Pick<StructuredLog, 'warn'>;
}

/** The state of this site, and the values of the other one, to which a change is applied. */
interface ApplyContext {
  readonly state: Pick<SiteState, 'secretKey'>;
  readonly ledger: Ledger;
  /** The values of the other site, by the id of the item. */
  readonly values: ReadonlyMap<string, unknown>;
  /** The name of the other site. */
  readonly site: string;
}

/** Milliseconds for which a bucket that another site removed, and that is not empty here, waits for the removals of its objects. */
const notEmptyMs = 10 * 60_000;

/** Applies single changes of other sites to this one. */
export class ItemApplier {
  readonly #options: ApplierOptions;
  /** The failures that were logged, with the time of the first. */
  readonly #failures = new Map<string, { readonly since: number; readonly message: string }>();

  constructor(options: ApplierOptions) {
    this.#options = options;
  }

  reset(): void {
    this.#failures.clear();
  }

  /** Returns the entry for the ledger. `later`: it is tried again. `not here`: it is a setting of a bucket that this site has not. */
  async apply(entry: LedgerEntry, context: ApplyContext): Promise<LedgerEntry | 'later' | 'not here'> {
    const { ledger } = context;
    const known = ledger.get(itemId(entry));
    if (known?.digest === entry.digest) return entry;
    const bucket = bucketOfSetting(entry);
    if (bucket !== undefined && ledger.get(itemId({ kind: 'bucket', name: bucket }))?.digest === undefined) {
      return 'not here';
    }
    try {
      // A change of this moment is noted first, and compared then.
      if ((await this.#options.live.digest(context.state.secretKey, entry)) !== known?.digest) return 'later';
      const applied = await this.#write(entry, context);
      if (applied !== 'later') this.#failures.delete(itemId(entry));
      return applied;
    } catch (error) {
      return this.#rejected(entry, known, error, context);
    }
  }

  /** A new bucket has versions, and maybe object lock. These settings are no changes of this site: those of the other one win. */
  async settingsOfNew(
    { kind, name, digest: there }: LedgerEntry,
    { state, ledger }: Pick<ApplyContext, 'state' | 'ledger'>,
  ): Promise<readonly LedgerEntry[]> {
    if (kind !== 'bucket' || there === undefined) return [];
    const settings = await this.#options.live.settingsOf(state.secretKey, name);
    const unknown = settings.filter((setting) => ledger.get(itemId(setting))?.digest === undefined);
    return unknown.map((setting) => ({ kind: setting.kind, name, digest: setting.digest, updatedAt: 0 }));
  }

  async #write(entry: LedgerEntry, { state, values }: ApplyContext): Promise<LedgerEntry | 'later'> {
    const { live } = this.#options;
    const source = live.sourceOf(entry);
    if (entry.digest === undefined) {
      await source.remove(entry);
      return entry;
    }
    const value = values.get(itemId(entry));
    // The other site has changed it meanwhile.
    if (value === undefined || digestOf(state.secretKey, entry, value) !== entry.digest) return 'later';
    await source.write(entry, value);
    // A value that this site stores in another form does not count as a change.
    return { ...entry, digest: await live.digest(state.secretKey, entry) };
  }

  #rejected(
    entry: LedgerEntry,
    known: LedgerEntry | undefined,
    error: unknown,
    { site }: ApplyContext,
  ): LedgerEntry | 'later' {
    const { clock, log } = this.#options;
    const id = itemId(entry);
    const message = error instanceof Error ? error.message : String(error);
    const before = this.#failures.get(id);
    const since = before?.since ?? clock();
    this.#failures.set(id, { since, message });
    const { kind, name } = entry;
    if (before?.message !== message) {
      log.warn({ err: error, site, kind, item: name }, 'a change of another site cannot be applied yet');
    }
    const isNotEmpty = error instanceof S3Error && error.code === 'BucketNotEmpty';
    if (!isNotEmpty || known === undefined || clock() - since < notEmptyMs) return 'later';
    log.warn({ site, bucket: name }, 'a bucket that another site removed is not empty here: it comes back');
    this.#failures.delete(id);
    return { ...known, updatedAt: Math.max(clock(), entry.updatedAt + 1) };
  }
}
