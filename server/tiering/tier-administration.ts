import type { ShownTier, TierFields } from '../../protocol/admin/tier.ts';
import { randomBytes } from 'node:crypto';
import type { Logger } from '../../platform/output/logger.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import { recordKeys } from '../objects/records/record-format.ts';
import { after } from '../store/keys.ts';
import { requirePromoted } from '../store/promotion.ts';
import type { RecordStore } from '../store/record-store.ts';
import { newTierNumber, tierIds } from '../store/tiered-id.ts';
import type { StoredTier, TierConfiguration, TierConfigurations } from './tier-configurations.ts';

interface AdministrationOptions {
  readonly configurations: TierConfigurations;
  readonly records: RecordStore;
  readonly objects: Pick<ObjectLayer, 'listBuckets' | 'getBucketLifecycle'>;
  readonly log: Logger;
}

/** The storage classes of this server itself. */
const reserved: ReadonlySet<string> = new Set(['STANDARD', 'REDUCED_REDUNDANCY', 'RRS']);

/** Adds, shows, changes and removes tiers. Errors are `S3Error`s with the codes of MinIO. */
export class TierAdministration {
  readonly #options: AdministrationOptions;

  constructor(options: AdministrationOptions) {
    this.#options = options;
  }

  async list(): Promise<readonly ShownTier[]> {
    return (await this.#options.configurations.all()).map(
      ({ tier: { secretKey: _secret, number: _number, ...shown } }) => shown,
    );
  }

  /** Adds a tier whose bucket is there, takes every kind of call, and is empty below the prefix. `force` takes one that is not empty. */
  async add(tier: TierFields, force: boolean): Promise<void> {
    const { name } = tier;
    checkName(name);
    if ((await this.#options.configurations.get(name)) !== undefined) throw new S3Error('XMinioAdminTierAlreadyExists');
    await this.#check(tier, { empty: !force });
    const added = await this.#options.configurations.add({ ...tier, number: newTierNumber(randomBytes) });
    if (!added) throw new S3Error('XMinioAdminTierAlreadyExists');
  }

  /** Changes the keys of a tier, which must work. */
  async edit(
    name: string,
    keys: Partial<Pick<TierConfiguration, 'accessKey'>> & Pick<TierConfiguration, 'secretKey'>,
  ): Promise<void> {
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const stored = await this.#stored(name);
      if (stored.tier.type !== 'azure' && keys.accessKey === undefined) {
        throw new S3Error(
          'XMinioAdminTierInvalidConfig',
          'Give an access key and a secret key: only they can be changed.',
        );
      }
      const tier = { ...stored.tier, ...keys };
      await this.#check(tier, { empty: false });
      if (await this.#options.configurations.replace(stored, tier)) return;
    }
    throw new S3Error('SlowDown', 'The tier was changed by others at the same time; try again.');
  }

  /**
   * Removes a tier that no rule names, and that has no body of this deployment. `force` removes it anyway: its bodies cannot be read any
   * more, until a tier is added for them by an administrator who restores the records.
   */
  async remove(name: string, force: boolean): Promise<void> {
    const stored = await this.#stored(name);
    if (!force) await this.#checkUnused(stored.tier);
    await this.#options.configurations.remove(stored);
  }

  /** Makes each kind of call to the tier. */
  async verify(name: string): Promise<void> {
    await this.#check((await this.#stored(name)).tier, { empty: false });
  }

  async #stored(name: string): Promise<StoredTier> {
    const stored = await this.#options.configurations.get(name);
    if (stored === undefined) throw new S3Error('XMinioAdminTierNotFound');
    return stored;
  }

  async #checkUnused({ name, number }: TierConfiguration): Promise<void> {
    const { records, objects } = this.#options;
    for (const { name: bucket } of await objects.listBuckets()) {
      const rules = (await objects.getBucketLifecycle(bucket)) ?? [];
      const rule = rules.find(
        ({ transition, noncurrentTransition }) => transition?.tier === name || noncurrentTransition?.tier === name,
      );
      if (rule === undefined) continue;
      throw new S3Error('XMinioAdminTierBackendInUse', `The lifecycle of the bucket ${bucket} names the tier ${name}.`);
    }
    const { first, last } = tierIds(number);
    for (const keyOf of [recordKeys.owner, recordKeys.removal]) {
      const range = { start: keyOf(first), end: after(keyOf(last)), limit: 1 };
      for await (const item of records.scan(range)) {
        if (item.kind === 'entry') throw new S3Error('XMinioAdminTierBackendNotEmpty');
      }
    }
  }

  async #check(tier: TierFields, { empty }: { readonly empty: boolean }): Promise<void> {
    await requirePromoted(this.#options.records);
    const { checkTier } = await import('./tier-connection.ts');
    await checkTier(tier, { empty, log: this.#options.log });
  }
}

/** The name is a storage class in answers and in rules. */
function checkName(name: string): void {
  if (reserved.has(name)) throw new S3Error('XMinioAdminTierReserved');
  if (name !== name.toUpperCase()) throw new S3Error('XMinioAdminTierNameNotUpperCase');
  if (/^[A-Z0-9][A-Z0-9._-]{0,63}$/.test(name)) return;
  throw new S3Error(
    'XMinioAdminTierInvalidConfig',
    'A tier has a name of up to 64 letters, digits, dots, dashes and underscores.',
  );
}
