import { decodeRecord, encodeRecord } from '../../objects/records/record-format.ts';
import { commitOnce } from '../../store/commits.ts';
import { key, within } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { randomBytes } from 'node:crypto';
import type { Logger } from '../../../platform/output/logger.ts';
import type { KeySource } from '../../encryption/key-source.ts';
import { keepBlockSums } from '../../objects/bodies/block-sums-of.ts';
import { quarantine, release } from '../../objects/operations/quarantine.ts';
import { type BlobStore, isEmptyStore } from '../../store/blob-store.ts';
import { type VerifyContext, checkObject, type CheckedObject } from './check-object.ts';
import { storedCheck } from '../../objects/records/stored-check.ts';
import type { Issue } from './issue.ts';
import { allObjectRecords, entries, namedPlace, placeFrom, type StoredPlace, storedPlace } from './object-records.ts';
import { pace } from '../pace.ts';
import { checkUpload } from './check-upload.ts';

/** The position of the scrub, and the result of its last pass. Times are milliseconds since 1970. */
export interface ScrubState {
  readonly started: number;
  /** Absent during a pass. */
  readonly finished?: number;
  /** The last version of the pass so far. */
  readonly after?: StoredPlace;
  readonly objects: number;
  readonly bytes: number;
  /** The issues of this pass, for objects and parts of uploads. */
  readonly damaged: number;
  readonly missing: number;
  /** The count of objects that were quarantined and are whole again. */
  readonly released: number;
}

const scrubKey = key('scrub', 'state');

export async function readScrubState(records: RecordStore): Promise<ScrubState | undefined> {
  const entry = await records.get(scrubKey);
  return entry && (decodeRecord(entry.value, 'the scrub') as ScrubState);
}

async function writeScrubState(
  records: RecordStore,
  state: ScrubState,
  random: (size: number) => Buffer,
): Promise<void> {
  await commitOnce(records, { put: [{ key: scrubKey, value: encodeRecord(state) }] }, random);
}

export interface ScrubOptions {
  /** The records as the lease holder sees them: its commits are fenced. */
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  /** Decrypts bodies that were stored before their ciphertext had a checksum. */
  readonly keys: KeySource;
  readonly bytesPerSecond: number;
  readonly log: Logger;
  readonly signal?: AbortSignal;
  /** Milliseconds between the starts of two passes. */
  readonly everyMs?: number;
  readonly clock?: () => number;
  readonly random?: (size: number) => Buffer;
}

const EVERY = 24 * 3_600_000;
/** The interval in milliseconds at which the position is saved. After a stop, this much is read again. */
const SAVE_INTERVAL = 10_000;
/** The cost of reading a record, however small its object, in bytes. */
const RECORD_BYTES = 4_096;

/**
 * Reads all stored bytes slowly, from where the last round stopped. Quarantines damaged objects, and releases those that are whole
 * again. Returns at once until the next pass is due. Rejects with the reason of the signal.
 */
export async function scrubRound(options: ScrubOptions): Promise<ScrubState> {
  const { records, clock = Date.now, random = randomBytes, everyMs = EVERY } = options;
  const before = await readScrubState(records);
  if (before?.finished !== undefined && clock() - before.started < everyMs) return before;
  const scrub = new Scrub(options, before === undefined || before.finished !== undefined ? fresh(clock()) : before);
  try {
    await scrub.objects();
    await scrub.uploads();
  } catch (error) {
    await writeScrubState(records, scrub.state, random).catch(() => undefined);
    throw error;
  }
  const { after: _, ...done } = scrub.state;
  const finished = { ...done, finished: clock() };
  await writeScrubState(records, finished, random);
  return finished;
}

function fresh(now: number): ScrubState {
  return { started: now, objects: 0, bytes: 0, damaged: 0, missing: 0, released: 0 };
}

class Scrub {
  state: ScrubState;
  readonly #options: ScrubOptions;
  readonly #check: VerifyContext;
  readonly #clock: () => number;
  readonly #random: (size: number) => Buffer;
  #saved: number;

  constructor(options: ScrubOptions, state: ScrubState) {
    this.state = state;
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    this.#random = options.random ?? randomBytes;
    this.#saved = this.#clock();
    const wait = pace(options.bytesPerSecond, { signal: options.signal });
    this.#check = {
      records: options.records,
      blobs: options.blobs,
      keys: options.keys,
      opens: (streams) => streams.some(({ protection }) => storedCheck(protection) === undefined),
      bodies: true,
      paced: (bytes) => {
        this.state = { ...this.state, bytes: this.state.bytes + bytes };
        return wait(bytes);
      },
      keepSums: (blob, sums, wrong) => {
        if (wrong !== undefined) {
          const message = `the block sums of blob ${blob} ${wrong}: the blob is whole, and they are computed again`;
          options.log.warn({ event: 'block-sums-repaired', blob }, message);
        }
        return keepBlockSums({ records: options.records, random: this.#random }, blob, sums);
      },
      signal: options.signal,
    };
  }

  async objects(): Promise<void> {
    const after = this.state.after && placeFrom(this.state.after);
    for await (const records of allObjectRecords(this.#check.records, { after })) {
      const checked = await checkObject(this.#check, records);
      await this.#settle(checked);
      this.state = { ...this.state, after: storedPlace(checked.place), objects: this.state.objects + 1 };
      await this.#check.paced(RECORD_BYTES + (records.inline?.value.length ?? 0));
      await this.#save();
    }
  }

  async uploads(): Promise<void> {
    for await (const upload of entries(this.#check.records, within('u'))) {
      const { issues } = await checkUpload(this.#check, upload);
      for (const issue of issues) this.#report(issue);
    }
  }

  async #settle({ place, issues, stored }: CheckedObject): Promise<void> {
    const { records, log } = this.#options;
    for (const issue of issues) this.#report(issue);
    if (stored === undefined) return;
    const bad = issues.find((issue) => isCertain(issue));
    if (bad !== undefined) {
      if (bad.kind === 'missing-body') await this.#refuseEmptyStore();
      const damage = { found: this.#clock(), what: bad.message };
      await quarantine(records, place, stored.entry, damage, this.#random);
    } else if (issues.length === 0 && (await release(records, place, stored.entry, this.#random))) {
      this.state = { ...this.state, released: this.state.released + 1 };
      log.info(
        { event: 'object-released', ...namedPlace(place) },
        'an object that was damaged is whole again, and is served',
      );
    }
  }

  #report(issue: Issue): void {
    const { damaged, missing } = this.state;
    if (issue.kind === 'missing-body') this.state = { ...this.state, missing: missing + 1 };
    else if (issue.kind === 'damaged-body') this.state = { ...this.state, damaged: damaged + 1 };
    this.#options.log.error({ event: 'object-damaged', finding: issue }, `the scrub found: ${issue.message}`);
  }

  /** A store that is not mounted, or the wrong one, has no blob at all: the objects are not damaged then. */
  async #refuseEmptyStore(): Promise<void> {
    if (!(await isEmptyStore(this.#options.blobs))) return;
    throw new Error(
      'the blob store holds no blob at all, and objects refer to blobs: is it the right one, and mounted?',
    );
  }

  async #save(): Promise<void> {
    const now = this.#clock();
    if (now - this.#saved < SAVE_INTERVAL) return;
    this.#saved = now;
    await writeScrubState(this.#options.records, this.state, this.#random);
  }
}

function isCertain(issue: Issue): boolean {
  if (issue.kind === 'missing-body') return true;
  return issue.kind === 'damaged-body';
}
