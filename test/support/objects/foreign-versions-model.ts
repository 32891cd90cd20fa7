import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectLayer, VersionListing } from '../../../server/objects/contract/object-layer.ts';
import { type Order, orderAfter, orderAt, orderOfId } from '../../../server/objects/records/version-order.ts';
import { SeededRandom } from '../seeded-random.ts';
import { put, readAll } from './test-layer.ts';

/** A version as the model knows it; a delete marker has no text. */
interface ModelVersion {
  readonly id: string;
  readonly order: Order;
  readonly text: string | undefined;
}

const bucket = 'bucket';
const keys = ['a', 'a/b', 'ü'];
const start = Date.UTC(2026, 0, 1);

/**
 * Lets versions from elsewhere arrive at random places among those that are made here, with ids of every form, equal times, and null
 * versions, and removes, reads and lists them. A model has the versions of each key in a list that is sorted by their orders. The first
 * difference is an error with the seed and the operation.
 */
export class ForeignVersionsModel {
  readonly #layer: ObjectLayer;
  readonly #random: SeededRandom;
  readonly #versions = new Map<string, ModelVersion[]>(keys.map((key) => [key, []]));
  readonly #ids: string[] = ['gone', 'f'.repeat(32), 'null'];
  #count = 0;
  now = start;

  private constructor(layer: ObjectLayer, seed: number) {
    this.#layer = layer;
    this.#random = new SeededRandom(seed);
  }

  /** `makeLayer` gets the clock. The deployment of its records must have switched to format 4. */
  static async run(
    makeLayer: (clock: () => number) => ObjectLayer,
    { seed, operations }: { readonly seed: number; readonly operations: number },
  ): Promise<void> {
    let model: ForeignVersionsModel | undefined;
    const layer = makeLayer(() => model?.now ?? start);
    await layer.createBucket(bucket, { location: '' });
    await layer.putBucketVersioning(bucket, { status: 'Enabled' });
    model = new ForeignVersionsModel(layer, seed);
    for (let at = 0; at < operations; at += 1) {
      const { name, real, expected } = await model.#step();
      if (real !== expected) {
        throw new Error(`seed ${seed}, operation ${at}, ${name}: the server says ${real}, the model ${expected}`);
      }
    }
  }

  #step(): Promise<{ name: string; real: string; expected: string }> {
    this.now += this.#random.between(0, 1);
    const key = this.#one(keys);
    const choice = this.#random.between(0, 99);
    if (choice < 30) return this.#arrive(key);
    if (choice < 40) return this.#arriveNull(key);
    if (choice < 50) return this.#put(key);
    if (choice < 55) return this.#delete(key);
    if (choice < 70) return this.#remove(key);
    if (choice < 85) return this.#get(key);
    return this.#list();
  }

  /** A version of another server: the time is coarse, so that several have the same one. */
  async #arrive(key: string) {
    const milliseconds = start + this.#random.between(-2, 4);
    const nanoseconds = this.#one([0, 0, 1, 999_999]);
    const own = milliseconds.toString(16).padStart(12, '0') + this.#random.bytes(10).toString('hex');
    const versionId = this.#one([
      own,
      this.#one(this.#ids.filter((id) => id !== 'null')),
      this.#random.bytes(16).toString('hex'),
      '0af1a4c2-5d1b-4a3e-8c1f-' + this.#random.bytes(6).toString('hex'),
      `AWS/${this.#random.between(0, 40)}+~`,
      // The order of another version is its id.
      this.#one([...this.#versions.values()].flat().map(({ order }) => order)) ?? own,
    ]);
    const isOwn = versionId.startsWith(milliseconds.toString(16).padStart(12, '0')) && versionId.length === 32;
    const rank = this.#one([undefined, 1, 2]);
    const time = nanoseconds === 0 ? milliseconds : `${milliseconds}.${String(nanoseconds).padStart(6, '0')}`;
    const order =
      isOwn || (rank === undefined && nanoseconds === 0) ? undefined : orderOfId(versionId, time, rank ?? undefined);
    const { text, real } = await this.#arriving(key, { versionId, modified: new Date(milliseconds), order });
    const versions = this.#of(key);
    if (!versions.some(({ id }) => id === versionId)) {
      let free = isOwn ? versionId : (order ?? orderOfId(versionId, milliseconds));
      while (versions.some((one) => one.order === free && (one.id !== 'null' || one === versions[0]))) {
        free = orderAfter(free);
      }
      this.#store(key, { id: versionId, order: free, text });
    }
    return { name: `version ${versionId} of ${key} arrives`, real, expected: versionId };
  }

  async #arriveNull(key: string) {
    const milliseconds = start + this.#random.between(-2, 4);
    const order = this.#one([undefined, orderAt(`${milliseconds}.000007`)]);
    const replica = { versionId: 'null', modified: new Date(milliseconds), order };
    const versions = this.#of(key);
    const before = versions.find(({ id }) => id === 'null');
    const arrived = order ?? orderAt(milliseconds);
    if (before !== undefined && before.order > arrived) {
      const real = await this.#outcome(async () => (await this.#arriving(key, replica)).real);
      return { name: `an older null version of ${key} arrives`, real, expected: 'OperationAborted' };
    }
    const { text, real } = await this.#arriving(key, replica);
    if (before === undefined || before.order < arrived) {
      this.#versions.set(
        key,
        versions.filter((one) => one !== before),
      );
      this.#store(key, { id: 'null', order: arrived, text });
    }
    return { name: `null version of ${key} arrives`, real, expected: 'null' };
  }

  async #arriving(
    key: string,
    replica: { readonly versionId: string; readonly modified: Date; readonly order: Order | undefined },
  ) {
    const text = this.#one([this.#text(), this.#text(), undefined]);
    const written =
      text === undefined
        ? await this.#layer.deleteObject(bucket, key, { replica: { marker: replica } })
        : await this.#layer.putObject(put(bucket, key, text, { replica }));
    return { text, real: String(written.versionId) };
  }

  async #put(key: string) {
    const text = this.#text();
    const { versionId = '' } = await this.#layer.putObject(put(bucket, key, text));
    const isLast = this.#of(key).every(({ order }) => order < versionId);
    this.#store(key, { id: versionId, order: versionId, text });
    return { name: `put ${key}`, real: String(isLast), expected: 'true' };
  }

  async #delete(key: string) {
    const { versionId = '' } = await this.#layer.deleteObject(bucket, key);
    this.#store(key, { id: versionId, order: versionId, text: undefined });
    return { name: `delete ${key}`, real: String(this.#of(key)[0]?.id === versionId), expected: 'true' };
  }

  async #remove(key: string) {
    const id = this.#anyId(key);
    const real = await this.#outcome(async () => {
      await this.#layer.deleteObject(bucket, key, { versionId: id });
      return 'removed';
    });
    const found = this.#of(key).some((one) => one.id === id);
    this.#versions.set(
      key,
      this.#of(key).filter((one) => one.id !== id),
    );
    return { name: `remove ${id} of ${key}`, real, expected: found || isOwnForm(id) ? 'removed' : 'InvalidArgument' };
  }

  async #get(key: string) {
    const id = this.#one([undefined, this.#anyId(key)]);
    const real = await this.#outcome(async () => {
      const { info, read } = await this.#layer.getObject(bucket, key, { versionId: id });
      return `${info.versionId} ${String(await readAll(read({ start: 0, end: info.size })))}`;
    });
    const versions = this.#of(key);
    const found = id === undefined ? versions[0] : versions.find((one) => one.id === id);
    let expected = `${found?.id} ${found?.text}`;
    if (id === undefined && found?.text === undefined) expected = 'NoSuchKey';
    else if (found === undefined) expected = isOwnForm(id ?? '') ? 'NoSuchVersion' : 'InvalidArgument';
    else if (found.text === undefined) expected = 'MethodNotAllowed';
    return { name: `get ${id} of ${key}`, real, expected };
  }

  /** In pages, whose last version may be removed before the next one is read. */
  async #list() {
    const limit = this.#random.between(1, 4);
    const removes = this.#random.between(0, 1) === 1;
    const expected = keys
      .toSorted()
      .flatMap((key) => this.#of(key).map(({ id, text }, at) => `${key} ${id} ${at === 0} ${text === undefined}`));
    const listed: string[] = [];
    let next: VersionListing['next'] = { key: '' };
    while (next !== undefined) {
      const page: VersionListing = await this.#layer.listObjectVersions({
        bucket,
        prefix: '',
        delimiter: '',
        keyMarker: next.key,
        versionIdMarker: next.versionId,
        limit,
      });
      listed.push(
        ...page.versions.map(
          ({ key, versionId, isLatest, deleteMarker }) => `${key} ${versionId} ${isLatest} ${deleteMarker}`,
        ),
      );
      next = page.next;
      const last = page.versions.at(-1);
      // The null version has no place of its own once it is gone.
      if (removes && next !== undefined && last !== undefined && !last.isLatest && last.versionId !== 'null') {
        await this.#layer.deleteObject(bucket, last.key, { versionId: last.versionId });
        this.#versions.set(
          last.key,
          this.#of(last.key).filter(({ id }) => id !== last.versionId),
        );
      }
    }
    return { name: `list by ${limit}`, real: listed.join('\n'), expected: expected.join('\n') };
  }

  async #outcome(run: () => Promise<string>): Promise<string> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof S3Error) return error.code;
      throw error;
    }
  }

  #of(key: string): ModelVersion[] {
    return this.#versions.get(key) ?? [];
  }

  #store(key: string, version: ModelVersion): void {
    this.#ids.push(version.id);
    const versions = [...this.#of(key), version];
    this.#versions.set(
      key,
      // Of the same order, the null version is the older one.
      versions.toSorted((a, b) => (a.order < b.order || (a.order === b.order && a.id === 'null') ? 1 : -1)),
    );
  }

  #anyId(key: string): string {
    return this.#one([this.#one(this.#of(key))?.id ?? 'gone', this.#one(this.#ids)]);
  }

  #text(): string {
    this.#count += 1;
    // Longer than the inline limit of the layer, or not.
    return `${this.#count} `.padEnd(this.#one([1, 20]), 'x');
  }

  #one<T>(from: readonly T[]): T {
    return from[this.#random.between(0, from.length - 1)] as T;
  }
}

function isOwnForm(id: string): boolean {
  return id === 'null' || /^[0-9a-f]{32}$/.test(id);
}
