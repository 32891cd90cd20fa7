import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Logger } from '../../../platform/output/logger.ts';
import type { DigestKeys } from '../../encryption/digest-keys.ts';
import type { DigestSeal } from '../../encryption/digest-seal.ts';
import {
  decodeObject,
  encodeObject,
  type ObjectRecord,
  type SealedKeys,
  decodeHead,
  hasHead,
} from '../../objects/records/object-record.ts';
import { decodeManifest, encodeManifest, type ManifestPart } from '../../objects/records/body-records.ts';
import { decodeBody, encodeBody, decodeRecord, encodeRecord, recordKeys } from '../../objects/records/record-format.ts';
import {
  type DigestOwner,
  sealChecksum,
  sealEtag,
  type StoredChecksum,
  type StoredEtag,
} from '../../objects/records/stored-digests.ts';
import {
  decodeUpload,
  digestsOfRecord,
  type PartRecord,
  recordOfDigests,
} from '../../objects/records/upload-record.ts';
import { commitOnce } from '../../store/commits.ts';
import { decodeKey, key, within } from '../../store/keys.ts';
import type { Batch, Entry, RecordStore } from '../../store/record-store.ts';
import { entries, namedPlace, type Place } from '../verify/object-records.ts';
import { type PassPosition, versionPass } from './version-pass.ts';
import { type Pace, pace } from '../pace.ts';
import { isUnreadable } from '../../objects/records/damage.ts';
import { StoreError } from '../../store/store-error.ts';

/** The progress of sealing the digests that older servers stored in the clear. Times are milliseconds since 1970. */
interface OldDigestsState extends PassPosition {
  readonly started: number;
  /** The end of the last complete pass. */
  readonly finished?: number;
  /** Set when a whole pass found nothing: then no other pass follows. */
  readonly clean?: true;
  /** The count of records whose digests this pass sealed. */
  readonly sealed: number;
  /** The count of records that lost a checksum in this pass, since no key can seal it. */
  readonly dropped: number;
  readonly failed: number;
}

interface OldDigestsOptions {
  /** The records as the lease holder sees them: its commits are fenced. */
  readonly records: RecordStore;
  readonly digests: DigestKeys;
  /** True where this server has a key service. Without one, no key ever seals the digests of a bucket. */
  readonly hasKeys: boolean;
  /** Waits until more records may be read. */
  readonly reads?: Pace;
  readonly log: Pick<Logger, 'info' | 'error'>;
  readonly signal?: AbortSignal;
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
}

const stateKey = key('system', 'digests');
/** The interval in milliseconds at which the position is saved. */
const SAVE_INTERVAL = 5_000;
/** Milliseconds between passes: during a rolling upgrade, older servers still write plain digests. */
const AGAIN_AFTER = 10 * 60_000;
const PER_SECOND = 1_000;
/** A record that is replaced again and again gets sealed digests by the replacement. */
const ATTEMPTS = 10;

export async function readOldDigestsState(records: Pick<RecordStore, 'get'>): Promise<OldDigestsState | undefined> {
  const entry = await records.get(stateKey);
  return entry && (decodeRecord(entry.value, 'the sealing of digests') as OldDigestsState);
}

/**
 * Seals the digests that older servers stored in the clear with encrypted objects, from where the last round stopped. Bodies, ETags and
 * times do not change. Passes follow each other until one finds nothing. The next round continues while the backend is not sealed yet.
 */
export async function sealOldDigests(options: OldDigestsOptions): Promise<OldDigestsState | undefined> {
  const { records, digests, hasKeys, log, clock = Date.now, random = randomBytes } = options;
  const before = await readOldDigestsState(records);
  if (before?.clean === true) return before;
  if (before?.finished !== undefined && clock() - before.finished < AGAIN_AFTER) return before;
  if (hasKeys && (await digests.ofBucket('')) === undefined) return before;
  const fresh: OldDigestsState = { started: clock(), sealed: 0, dropped: 0, failed: 0 };
  const pass = new Pass(options, before === undefined || before.finished !== undefined ? fresh : before);
  try {
    await pass.uploads();
    await pass.objects();
  } catch (error) {
    await writeState(records, pass.state, random).catch(() => undefined);
    throw error;
  }
  const { after: _after, table: _table, ...done } = pass.state;
  const clean = done.sealed + done.dropped + done.failed === 0;
  const finished = { ...done, finished: clock(), ...(clean && { clean }) };
  await writeState(records, finished, random);
  const { sealed, dropped, failed } = finished;
  if (!clean) {
    log.info(
      { event: 'digests-sealed', sealed, dropped, failed },
      'digests of encrypted objects that were readable are sealed: compact the records, and mind older backups',
    );
  }
  return finished;
}

async function writeState(
  records: Pick<RecordStore, 'commit' | 'outcome'>,
  state: OldDigestsState,
  random: (size: number) => Buffer,
): Promise<void> {
  await commitOnce(records, { put: [{ key: stateKey, value: encodeRecord(state) }] }, random);
}

type Change = 'sealed' | 'dropped' | 'nothing';

class Pass {
  state: OldDigestsState;
  readonly #options: OldDigestsOptions;
  readonly #clock: () => number;
  readonly #random: (size: number) => Buffer;
  readonly #wait: (records: number) => Promise<void>;
  #saved: number;

  constructor(options: OldDigestsOptions, state: OldDigestsState) {
    const { clock = Date.now, random = randomBytes, signal } = options;
    this.state = state;
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.#wait = pace(PER_SECOND, { signal });
    this.#saved = clock();
  }

  /** Each round visits all parts of uploads in progress, before the objects: an upload that completes becomes an object. */
  async uploads(): Promise<void> {
    const { records, signal } = this.#options;
    for await (const upload of entries(records, within('u'))) {
      const [, bucket = '', name = '', id = ''] = decodeKey(upload.key).map(String);
      await this.#counted({ bucket, key: name }, async () => {
        const { sealed } = decodeUpload(upload.value, id);
        if (sealed === undefined) return 'nothing';
        let change: Change = 'nothing';
        for await (const part of entries(records, within('p', id))) {
          signal?.throwIfAborted();
          const number = Number(String(decodeKey(part.key)[2]));
          const changed = await this.#replaced(part, async (entry) =>
            this.#part(entry, { bucket, id, number, sealed }),
          );
          if (changed !== 'nothing') change = changed;
        }
        return change;
      });
    }
  }

  async objects(): Promise<void> {
    const { records, signal, reads } = this.#options;
    for await (const { entry: object, place, position } of versionPass(records, this.state, signal, reads)) {
      await this.#counted(place, async () =>
        isPlainObject(object, place) ? 'nothing' : this.#replaced(object, (entry) => this.#object(entry, place)),
      );
      this.state = { ...this.state, ...position };
      if (this.#clock() - this.#saved < SAVE_INTERVAL) continue;
      this.#saved = this.#clock();
      await writeState(records, this.state, this.#random);
    }
  }

  /** Logs and skips a record that cannot be read. */
  async #counted(place: Place, change: () => Promise<Change>): Promise<void> {
    try {
      const changed = await change();
      if (changed === 'nothing') return;
      this.state = { ...this.state, [changed]: this.state[changed] + 1 };
      await this.#wait(1);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      this.state = { ...this.state, failed: this.state.failed + 1 };
      this.#options.log.error({ err: error, ...namedPlace(place) }, 'the digests of an object could not be sealed');
    }
  }

  async #replaced(
    listed: Entry,
    plan: (entry: Entry) => Promise<{ readonly change: Change; readonly batch?: Omit<Batch, 'id'> }>,
  ): Promise<Change> {
    const { records } = this.#options;
    let entry: Entry | undefined = listed;
    for (let attempt = 1; entry !== undefined && attempt <= ATTEMPTS; attempt += 1) {
      const { change, batch } = await plan(entry);
      if (batch === undefined) return 'nothing';
      const expect = [{ kind: 'revision' as const, key: entry.key, revision: entry.revision }, ...(batch.expect ?? [])];
      if ((await commitOnce(records, { ...batch, expect }, this.#random)).kind === 'committed') return change;
      entry = await records.get(listed.key);
    }
    return 'nothing';
  }

  async #part(
    entry: Entry,
    { bucket, id, number, sealed }: { bucket: string; id: string; number: number; sealed: SealedKeys },
  ) {
    const record = decodeRecord(entry.value, `part ${number} of upload ${id}`) as PartRecord;
    const stored = digestsOfRecord(record);
    if (!hasPlainDigest(sealed, stored)) return { change: 'nothing' } as const;
    const seal = await this.#options.digests.ofBucket(bucket);
    const { checksum: _, ...rest } = record;
    const value = encodeRecord({
      ...rest,
      ...recordOfDigests(sealedDigests(seal, { id, part: number }, sealed, stored)),
    });
    return { change: changeBy(seal), batch: { put: [{ key: entry.key, value }] } };
  }

  async #object(entry: Entry, place: Place) {
    const { bucket, key: name } = place;
    const record = decodeObject(entry.value, bucket, name);
    const { sealed, id, body } = record;
    if (sealed === undefined) return { change: 'nothing' } as const;
    const manifest = body.kind === 'parts' ? await this.#manifest(record, place) : undefined;
    if (manifest === undefined && !hasPlainDigest(sealed, record)) return { change: 'nothing' } as const;
    const seal = await this.#options.digests.ofBucket(bucket);
    const { checksum, ...rest } = record;
    const stored = { etag: record.etag, ...(checksum && { checksum }) };
    const owner = { id, part: 0 };
    const digests = hasPlainDigest(sealed, stored) ? sealedDigests(seal, owner, sealed, stored) : stored;
    const put = [];
    let kept = { ...rest, ...digests } as ObjectRecord;
    if (manifest !== undefined && body.kind === 'parts') {
      const bytes = encodeManifest(manifest.parts.map((part) => withSealedChecksum(seal, id, part, checksum)));
      kept = { ...kept, body: { ...body, crc: crc32(bytes) } };
      put.push({ key: manifest.entry.key, value: encodeBody(id, bytes) });
    }
    put.push({ key: entry.key, value: encodeObject(kept) });
    const expect = manifest
      ? [{ kind: 'revision' as const, key: manifest.entry.key, revision: manifest.entry.revision }]
      : [];
    return { change: changeBy(seal), batch: { expect, put } };
  }

  /** Returns the manifest where it has plain checksums; undefined also where it is missing or belongs to another object. */
  async #manifest({ id, body }: ObjectRecord, { bucket, key: name, order }: Place) {
    const entry = await this.#options.records.get(recordKeys.manifest(bucket, name, order));
    const bytes = entry && decodeBody(entry.value, id);
    if (entry === undefined || bytes === undefined || body.kind !== 'parts') return undefined;
    const parts = decodeManifest(bytes, body.crc);
    return parts.some(({ checksum }) => typeof checksum === 'string') ? { entry, parts } : undefined;
  }
}

/** Plain objects are not decoded. */
function isPlainObject({ value }: Entry, { bucket, key: name }: Place): boolean {
  return hasHead(value) && !decodeHead(value, `object ${bucket}/${name}`).encrypted;
}

interface Stored {
  readonly etag: StoredEtag;
  readonly checksum?: StoredChecksum;
}

function hasPlainDigest({ scheme }: SealedKeys, { etag, checksum }: Stored): boolean {
  return (scheme === 'SSE-S3' && typeof etag === 'string') || (checksum !== undefined && 'value' in checksum);
}

function changeBy(seal: DigestSeal | undefined): Change {
  return seal === undefined ? 'dropped' : 'sealed';
}

/**
 * Only a server without a key service has no key. Its encrypted objects are under keys of clients, and only those clients could seal
 * the checksums: they are dropped.
 */
function sealedDigests(
  seal: DigestSeal | undefined,
  owner: DigestOwner,
  { scheme }: SealedKeys,
  stored: Stored,
): Stored {
  const { etag, checksum } = stored;
  if (seal === undefined) {
    if (scheme === 'SSE-C') return { etag };
    throw new StoreError('unreadable-record', 'its digests cannot be sealed: the server has no key service any more');
  }
  return {
    etag: scheme === 'SSE-S3' && typeof etag === 'string' ? sealEtag(seal, owner, etag) : etag,
    ...(checksum && { checksum: 'value' in checksum ? sealChecksum(seal, 'bucket', owner, checksum) : checksum }),
  };
}

/** A checksum of an unknown algorithm is dropped: nothing can use it. */
function withSealedChecksum(
  seal: DigestSeal | undefined,
  id: string,
  part: ManifestPart,
  whole: StoredChecksum | undefined,
): ManifestPart {
  const { checksum, ...rest } = part;
  if (typeof checksum !== 'string') return part;
  if (seal === undefined || whole === undefined) return rest;
  const { algorithm } = whole;
  const { sealed } = sealChecksum(
    seal,
    'bucket',
    { id, part: part.number },
    { algorithm, type: 'FULL_OBJECT', value: checksum },
  );
  return { ...rest, checksum: { sealed } };
}
