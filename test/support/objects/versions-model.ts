import { createHash } from 'node:crypto';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectLock, ObjectTags, Retention } from '../../../server/objects/contract/object-layer.ts';
import { SeededRandom } from '../seeded-random.ts';
import type { ListedVersionOfModel, ModelledLayer } from './modelled-layer.ts';
import { modelRename, randomRename, type Renamed } from './modelled-rename.ts';
import { put, readAll } from './test-layer.ts';

/** A version as the model knows it; a delete marker has no text. */
interface ModelVersion {
  readonly id: string;
  readonly text: string | undefined;
  readonly etag: string;
  tags: ObjectTags;
  lock: ObjectLock;
  readonly renamed?: Renamed | undefined;
}

export interface ModelOptions {
  readonly seed: number;
  readonly operations: number;
  readonly lock: boolean;
  /** True where the bucket never gets versions, so that objects can be renamed. */
  readonly unversioned?: boolean;
  /** The server has a clock of its own, so that no retention ends. Otherwise the model moves the clock by days. */
  readonly realTime?: boolean;
}

export const kindsOfBuckets: readonly [kind: string, options: Pick<ModelOptions, 'lock' | 'unversioned'>][] = [
  ['no versions', { lock: false, unversioned: true }],
  ['versions', { lock: false }],
  ['object lock', { lock: true }],
];

type Status = 'Enabled' | 'Suspended' | undefined;

const keys = ['a', 'a/b', 'a/c', 'b', 'ü/x', 'z'];
const dayMs = 86_400_000;
const bucket = 'bucket';

/** The result of an operation: a text to compare, or the code of the refusal. */
async function outcome(run: () => Promise<string>): Promise<string> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
}

/**
 * Runs random operations on a bucket with versions, and on a model that keeps an array of versions for each key. The first difference is
 * an error with the seed and the operation. `layer` has the clock of `now`.
 */
export class VersionsModel {
  readonly #layer: ModelledLayer;
  readonly #random: SeededRandom;
  readonly #versions = new Map<string, ModelVersion[]>();
  readonly #removed: string[] = [];
  readonly #lock: boolean;
  readonly #unversioned: boolean;
  readonly #realTime: boolean;
  #status: Status;
  #writes = 0;
  now = Date.UTC(2026, 0, 1);

  private constructor(layer: ModelledLayer, { seed, lock, unversioned = false, realTime = false }: ModelOptions) {
    this.#layer = layer;
    this.#random = new SeededRandom(seed);
    this.#lock = lock;
    this.#unversioned = unversioned;
    this.#realTime = realTime;
    this.#status = lock ? 'Enabled' : undefined;
  }

  /** `makeLayer` gets the clock. */
  static async run(makeLayer: (clock: () => number) => ModelledLayer, options: ModelOptions): Promise<void> {
    let model: VersionsModel | undefined;
    const layer = makeLayer(() => model?.now ?? 0);
    await layer.createBucket(bucket, { location: '', objectLock: options.lock });
    model = new VersionsModel(layer, options);
    for (let at = 0; at < options.operations; at += 1) {
      const { name, real, expected } = await model.#step();
      if (real !== expected) {
        throw new Error(
          `seed ${options.seed}, operation ${at}, ${name}: the server says ${real}, the model ${expected}`,
        );
      }
    }
  }

  /** Does one operation on both. */
  async #step(): Promise<{ name: string; real: string; expected: string }> {
    if (this.#realTime) this.now = Math.floor(Date.now() / 1_000) * 1_000;
    else this.now += this.#random.between(0, 2) === 0 ? 0 : this.#random.between(1, 5_000);
    const key = this.#one(keys);
    const choice = this.#random.between(0, 99);
    if (choice < 28) return this.#put(key);
    if (choice < 33) return this.#multipart(key);
    if (choice < 38) return this.#copy(key);
    if (choice < 48) return this.#delete(key);
    if (choice < 60) return this.#deleteVersion(key);
    if (choice < 75) return this.#get(key);
    if (choice < 80) return this.#tag(key);
    if (choice < 86) return this.#list();
    if (choice < 88) return this.#listCurrent();
    if (this.#unversioned && choice < 94) return this.#rename(key);
    if (choice < 91) return this.#setStatus();
    if (choice < 92) return this.#rename(key);
    if (choice < 96) return this.#retain(key);
    if (choice < 98) return this.#hold(key);
    if (!this.#realTime) this.now += this.#random.between(-1, 3) * dayMs;
    return { name: 'time passes', real: '', expected: '' };
  }

  async #put(key: string) {
    const text = this.#text();
    const current = this.#current(key);
    const conditions = this.#one([
      undefined,
      undefined,
      { ifNoneMatch: ['*'] },
      { ifMatch: [current?.etag ?? '0'.repeat(32)] },
      { ifMatch: ['f'.repeat(32)] },
    ]);
    const tags = this.#one([undefined, { a: text }]);
    const lock = conditions === undefined ? this.#lockToAsk() : undefined;
    let expected = 'stored';
    if (conditions !== undefined && 'ifNoneMatch' in conditions && current !== undefined)
      expected = 'PreconditionFailed';
    if (conditions !== undefined && 'ifMatch' in conditions) {
      if (current === undefined) expected = 'NoSuchKey';
      else if (conditions.ifMatch?.[0] !== current.etag) expected = 'PreconditionFailed';
    }
    if (lock !== undefined && !this.#lock) expected = 'InvalidRequest';
    const real = await outcome(async () => {
      const info = await this.#layer.putObject(put(bucket, key, text, { conditions, tags, lock }));
      this.#store(key, { id: info.versionId ?? 'null', text, etag: info.etag, tags: tags ?? {}, lock: lock ?? {} });
      return 'stored';
    });
    return { name: `put ${key}`, real, expected };
  }

  async #multipart(key: string) {
    const text = this.#text();
    const lock = this.#lockToAsk();
    const tags = { m: 'p' };
    const real = await outcome(async () => {
      const { uploadId } = await this.#layer.createMultipartUpload({
        bucket,
        key,
        headers: { metadata: {} },
        tags,
        lock,
      });
      // A part of an upload with a lock needs a digest.
      const md5 = createHash('md5').update(text).digest('base64');
      const source = put(bucket, key, text, { digests: { md5 } });
      const part = await this.#layer.putPart({ ...source, uploadId, partNumber: 1 });
      const info = await this.#layer.completeMultipartUpload({ bucket, key, uploadId, parts: [part] });
      this.#store(key, { id: info.versionId ?? 'null', text, etag: info.etag, tags, lock: lock ?? {} });
      return 'stored';
    });
    return {
      name: `multipart ${key}`,
      real,
      expected: lock !== undefined && !this.#lock ? 'InvalidRequest' : 'stored',
    };
  }

  async #copy(key: string) {
    const from = this.#one(keys);
    const versionId = this.#versionToAsk(from);
    const found = this.#find(from, versionId);
    const onItself = from === key && versionId === undefined;
    const isRefused = onItself || found.code === 'MethodNotAllowed';
    const expected = isRefused ? 'InvalidRequest' : (found.code ?? 'stored');
    const real = await outcome(async () => {
      const info = await this.#layer.copyObject({ source: { bucket, key: from, versionId }, bucket, key });
      const { text, tags } = found.version ?? { text: undefined, tags: {} };
      this.#store(key, { id: info.versionId ?? 'null', text, etag: info.etag, tags, lock: {} });
      return 'stored';
    });
    return { name: `copy ${from} ${versionId} to ${key}`, real, expected };
  }

  async #rename(to: string) {
    const from = this.#one(keys);
    const objects = { source: this.#current(from), target: this.#current(to) };
    const request = randomRename(this.#random, { bucket, from, to }, objects);
    const { expected, moved } = modelRename(request, objects, this.#status !== undefined);
    const real = await outcome(async () => {
      await this.#layer.renameObject(request);
      return 'renamed';
    });
    if (moved !== undefined) {
      this.#versions.set(to, [moved]);
      this.#versions.delete(from);
    }
    return { name: `rename ${from} to ${to} ${JSON.stringify(request)}`, real, expected };
  }

  async #delete(key: string) {
    const expected = `${this.#status !== undefined}`;
    const real = await outcome(async () => {
      const { versionId, deleteMarker } = await this.#layer.deleteObject(bucket, key);
      if (deleteMarker) this.#store(key, { id: versionId ?? '', text: undefined, etag: '', tags: {}, lock: {} });
      else this.#versions.delete(key);
      return String(deleteMarker);
    });
    return { name: `delete ${key}`, real, expected };
  }

  async #deleteVersion(key: string) {
    const versionId = this.#versionToAsk(key) ?? 'null';
    const bypassGovernance = this.#random.between(0, 3) === 0;
    const versions = this.#of(key);
    const version = versions.find(({ id }) => id === versionId);
    const isLocked = version !== undefined && this.#isLocked(version.lock, bypassGovernance);
    const expected = isLocked ? 'AccessDenied' : String(version !== undefined && version.text === undefined);
    const real = await outcome(async () => {
      const { deleteMarker } = await this.#layer.deleteObject(bucket, key, { versionId, bypassGovernance });
      return String(deleteMarker);
    });
    if (!isLocked && version !== undefined) {
      this.#versions.set(
        key,
        versions.filter((one) => one !== version),
      );
      this.#removed.push(versionId);
    }
    return { name: `delete ${key} ${versionId}`, real, expected };
  }

  async #get(key: string) {
    const versionId = this.#versionToAsk(key);
    const { code, version } = this.#find(key, versionId);
    const real = await outcome(async () => {
      const { info, read } = await this.#layer.getObject(bucket, key, { versionId });
      const head = await this.#layer.headObject(bucket, key, { versionId });
      const tags = await this.#layer.getObjectTags(bucket, key, versionId);
      const text = String(await readAll(read({ start: 0, end: info.size })));
      return JSON.stringify([text, info.versionId, head.versionId, tags.tags, info.lock ?? {}]);
    });
    const shown = this.#status === undefined ? versionId : version?.id;
    const expected = code ?? JSON.stringify([version?.text, shown, shown, version?.tags, version?.lock]);
    return { name: `get ${key} ${versionId}`, real, expected };
  }

  async #tag(key: string) {
    const versionId = this.#versionToAsk(key);
    const { code, version } = this.#find(key, versionId);
    const tags: ObjectTags = this.#one<ObjectTags>([{}, { one: '1' }, { one: '2', two: '3' }]);
    const real = await outcome(async () => {
      await this.#layer.putObjectTags(bucket, key, tags, versionId);
      return 'tagged';
    });
    if (version !== undefined && code === undefined) version.tags = tags;
    return { name: `tag ${key} ${versionId}`, real, expected: code ?? 'tagged' };
  }

  async #retain(key: string) {
    const versionId = this.#versionToAsk(key);
    const { code, version } = this.#find(key, versionId);
    const retention: Retention | undefined = this.#one([
      undefined,
      this.#retention('GOVERNANCE'),
      this.#retention('COMPLIANCE'),
    ]);
    const bypassGovernance = this.#random.between(0, 1) === 0;
    let expected = code ?? 'retained';
    if (code === undefined && version !== undefined) {
      const { retention: held } = version.lock;
      const isHeld = held !== undefined && held.until.getTime() > this.now;
      const isWeaker =
        retention === undefined ||
        retention.until.getTime() < (held?.until.getTime() ?? 0) ||
        held?.mode !== retention.mode;
      if (!this.#lock) expected = 'InvalidRequest';
      else if (isHeld && isWeaker && !(held.mode === 'GOVERNANCE' && bypassGovernance)) expected = 'AccessDenied';
      else {
        const { legalHold } = version.lock;
        version.lock = { ...(retention && { retention }), ...(legalHold !== undefined && { legalHold }) };
      }
    }
    const real = await outcome(async () => {
      await this.#layer.putObjectRetention(bucket, key, { versionId, retention, bypassGovernance });
      return 'retained';
    });
    return { name: `retain ${key} ${versionId} ${JSON.stringify(retention)}`, real, expected };
  }

  async #hold(key: string) {
    const versionId = this.#versionToAsk(key);
    const { code, version } = this.#find(key, versionId);
    const legalHold = this.#random.between(0, 2) === 0;
    const expected = code ?? (this.#lock ? 'held' : 'InvalidRequest');
    if (expected === 'held' && version !== undefined) version.lock = { ...version.lock, legalHold };
    const real = await outcome(async () => {
      await this.#layer.putObjectLegalHold(bucket, key, { versionId, legalHold });
      return 'held';
    });
    return { name: `hold ${key} ${versionId} ${legalHold}`, real, expected };
  }

  async #list() {
    const prefix = this.#one(['', '', 'a', 'a/', 'ü', 'none']);
    const delimiter = this.#one(['', '/']);
    const limit = this.#random.between(1, 7);
    const shown: string[] = [];
    let next: { readonly key: string; readonly versionId?: string } | undefined = { key: '' };
    while (next !== undefined) {
      const page = await this.#layer.listObjectVersions({
        bucket,
        prefix,
        delimiter,
        keyMarker: next.key,
        versionIdMarker: next.versionId,
        limit,
      });
      if (page.versions.length + page.commonPrefixes.length > limit) shown.push(`more than ${limit}`);
      shown.push(...page.versions.map(describe), ...page.commonPrefixes);
      ({ next } = page);
    }
    const expected: string[] = [];
    const groups = new Set<string>();
    for (const key of this.#sortedKeys(prefix)) {
      const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
      if (end >= 0 && this.#of(key).length > 0) groups.add(key.slice(0, end + 1));
      else expected.push(...this.#of(key).map((version, at) => this.#describe(key, version, at === 0)));
    }
    return {
      name: `list versions of ${prefix} by ${delimiter}, ${limit} a page`,
      real: shown.toSorted().join('\n') + (delimiter === '' ? shown.join('\n') : ''),
      expected: [...expected, ...groups].toSorted().join('\n') + (delimiter === '' ? expected.join('\n') : ''),
    };
  }

  async #listCurrent() {
    const { objects } = await this.#layer.listObjects({ bucket, prefix: '', delimiter: '', after: '', limit: 1_000 });
    const expected = this.#sortedKeys('').filter((key) => this.#current(key) !== undefined);
    return { name: 'list', real: objects.map(({ key }) => key).join(), expected: expected.join() };
  }

  async #setStatus() {
    const status = this.#one(['Enabled', 'Suspended'] as const);
    const expected = this.#lock && status === 'Suspended' ? 'InvalidBucketState' : 'set';
    const real = await outcome(async () => {
      await this.#layer.putBucketVersioning(bucket, { status });
      return 'set';
    });
    if (expected === 'set') this.#status = status;
    return { name: status, real, expected };
  }

  #store(key: string, version: ModelVersion): void {
    const versions = this.#of(key);
    if (this.#status === 'Enabled') {
      const newest = versions.find(({ id }) => id !== 'null');
      if (newest !== undefined && version.id <= newest.id) throw new Error(`${version.id} is not after ${newest.id}`);
      this.#versions.set(key, [version, ...versions]);
      return;
    }
    if (version.id !== 'null') throw new Error(`${version.id} in a bucket without new versions`);
    this.#versions.set(key, [
      version,
      ...(this.#status === undefined ? [] : versions.filter(({ id }) => id !== 'null')),
    ]);
  }

  #of(key: string): ModelVersion[] {
    return this.#versions.get(key) ?? [];
  }

  /** The current object; undefined for an absent one, also behind a marker. */
  #current(key: string): ModelVersion | undefined {
    const [version] = this.#of(key);
    return version?.text === undefined ? undefined : version;
  }

  #find(key: string, versionId: string | undefined): { readonly code?: string; readonly version?: ModelVersion } {
    if (versionId === undefined) {
      const version = this.#current(key);
      return version === undefined ? { code: 'NoSuchKey' } : { version };
    }
    const version = this.#of(key).find(({ id }) => id === versionId);
    if (version === undefined) return { code: 'NoSuchVersion' };
    return version.text === undefined ? { code: 'MethodNotAllowed' } : { version };
  }

  #versionToAsk(key: string): string | undefined {
    const known = this.#of(key).map(({ id }) => id);
    return this.#one([undefined, ...known, ...known, 'null', this.#removed.at(-1) ?? 'a'.repeat(32)]);
  }

  #isLocked({ retention, legalHold }: ObjectLock, bypassGovernance: boolean): boolean {
    if (legalHold === true) return true;
    if (retention === undefined || retention.until.getTime() <= this.now) return false;
    return !(retention.mode === 'GOVERNANCE' && bypassGovernance);
  }

  #lockToAsk(): ObjectLock | undefined {
    if (this.#random.between(0, 5) > 0) return undefined;
    const mode = this.#one(['GOVERNANCE', 'COMPLIANCE'] as const);
    return this.#one([{ retention: this.#retention(mode) }, { legalHold: true }, { legalHold: false }]);
  }

  #retention(mode: Retention['mode']): Retention {
    return { mode, until: new Date(this.now + this.#random.between(1, 3) * dayMs) };
  }

  #text(): string {
    this.#writes += 1;
    return `${this.#writes}`.padEnd(this.#random.between(1, 40), '.');
  }

  #sortedKeys(prefix: string): readonly string[] {
    const known = [...this.#versions.keys()].filter((key) => key.startsWith(prefix));
    return known.toSorted((a, b) => Buffer.from(a).compare(Buffer.from(b)));
  }

  #describe(key: string, { id, text }: ModelVersion, isLatest: boolean): string {
    return `${key} ${id} ${isLatest} ${text === undefined}`;
  }

  #one<T>(choices: readonly T[]): T {
    return choices[this.#random.between(0, choices.length - 1)] as T;
  }
}

function describe({ key, versionId, isLatest, deleteMarker }: ListedVersionOfModel): string {
  return `${key} ${versionId} ${isLatest} ${deleteMarker}`;
}
