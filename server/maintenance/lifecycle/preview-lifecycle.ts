import type { LifecyclePreview, PreviewCounts, PreviewKind } from '../../../protocol/console/reach-answers.ts';
import type { LifecycleRule } from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import {
  abortionOf,
  dueForMarker,
  type Evaluation,
  expirationOf,
  isNoncurrentDue,
  isWholeKeyDue,
  type VersionFacts,
} from '../../objects/lifecycle/evaluate.ts';
import type { ListedVersion, ObjectLayer } from '../../objects/contract/object-layer.ts';
import { commonPrefix } from './walk-bucket.ts';

type Counts = { -readonly [Kind in keyof PreviewCounts]: PreviewCounts[Kind] };

interface PreviewOptions {
  readonly objects: Pick<ObjectLayer, 'listObjectVersions' | 'listMultipartUploads'>;
  readonly bucket: string;
  readonly rules: readonly LifecycleRule[];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly dayMs: number;
  /** The versions that are read at most. */
  readonly maxVersions?: number;
}

const PAGE = 1_000;
const maxExamples = 10;

/** Finds what lifecycle rules would remove from a bucket. It reads a bounded number of versions and removes nothing. */
export async function previewLifecycle(options: PreviewOptions): Promise<LifecyclePreview> {
  const preview = new LifecyclePreviewer(options);
  const allVersions = await preview.readVersions();
  const allUploads = await preview.readUploads();
  return preview.result(allVersions && allUploads);
}

class LifecyclePreviewer {
  readonly #options: PreviewOptions;
  readonly #now: Evaluation;
  readonly #ever: Evaluation;
  readonly #due = noCounts();
  readonly #later = noCounts();
  readonly #dueExamples: LifecyclePreview['examples'][number][] = [];
  readonly #laterExamples: LifecyclePreview['examples'][number][] = [];
  #read = 0;
  /** The state of the key whose versions are being read. */
  #key:
    | { readonly name: string; removesAll: boolean; versions: number; noncurrent: number; newerModified: number }
    | undefined;
  #marker: VersionFacts | undefined;

  constructor(options: PreviewOptions) {
    this.#options = options;
    const { rules, now, dayMs } = options;
    this.#now = { rules, now, dayMs };
    this.#ever = { rules, now: Infinity, dayMs };
  }

  /** Resolves with false where the bucket has more versions than the limit. */
  async readVersions(): Promise<boolean> {
    const { objects, bucket, rules, maxVersions = 20_000 } = this.#options;
    const prefix = commonPrefix(rules.filter(({ enabled }) => enabled).map(({ filter }) => filter.prefix ?? ''));
    let next: { readonly key: string; readonly versionId?: string } | undefined = { key: '' };
    while (next !== undefined) {
      if (this.#read >= maxVersions) return false;
      const page = await objects.listObjectVersions({
        bucket,
        prefix,
        delimiter: '',
        keyMarker: next.key,
        versionIdMarker: next.versionId,
        limit: Math.min(PAGE, maxVersions - this.#read),
      });
      for (const version of page.versions) this.#add(version);
      this.#read += page.versions.length;
      next = page.next;
    }
    this.#endKey();
    return true;
  }

  async readUploads(): Promise<boolean> {
    const { objects, bucket, rules, now, dayMs } = this.#options;
    const aborting = rules.filter(({ enabled, abortUploadsDays }) => enabled && abortUploadsDays !== undefined);
    if (aborting.length === 0) return true;
    const page = await objects.listMultipartUploads({
      bucket,
      prefix: commonPrefix(aborting.map(({ filter }) => filter.prefix ?? '')),
      delimiter: '',
      afterKey: '',
      afterUploadId: '',
      limit: PAGE,
    });
    for (const upload of page.uploads) {
      const abortion = abortionOf({ rules, dayMs }, { key: upload.key, initiated: upload.initiated.getTime() });
      if (abortion !== undefined) this.#count(upload.key, 0, 'upload', abortion.at <= now);
    }
    return page.next === undefined;
  }

  result(complete: boolean): LifecyclePreview {
    return {
      due: this.#due,
      later: this.#later,
      examples: [...this.#dueExamples, ...this.#laterExamples].slice(0, maxExamples),
      read: this.#read,
      complete,
      ignoresTags: this.#options.rules.some(({ enabled, filter }) => enabled && filter.tags !== undefined),
    };
  }

  #add(version: ListedVersion): void {
    const facts = { ...version, tags: undefined };
    if (version.key !== this.#key?.name) {
      this.#endKey();
      const removesAll = version.isLatest && isWholeKeyDue(this.#now, facts);
      this.#key = { name: version.key, removesAll, versions: 0, noncurrent: 0, newerModified: Infinity };
    }
    const key = this.#key;
    if (key === undefined) return;
    if (version.isLatest && version.deleteMarker) this.#marker = facts;
    else if (version.isLatest) this.#addCurrent(facts);
    else {
      const noncurrent = { ...facts, noncurrentSince: key.newerModified, newer: key.noncurrent };
      const due = key.removesAll || isNoncurrentDue(this.#now, noncurrent);
      if (due || isNoncurrentDue(this.#ever, noncurrent)) {
        this.#count(version.key, version.size, version.deleteMarker ? 'marker' : 'version', due);
      }
      key.noncurrent += 1;
    }
    key.versions += 1;
    key.newerModified = version.modified;
  }

  #addCurrent(facts: VersionFacts): void {
    const expiration = expirationOf(this.#now, facts);
    if (expiration !== undefined) this.#count(facts.key, facts.size, 'object', expiration.at <= this.#now.now);
  }

  /** A delete marker depends on whether its key has other versions, which is known at the end of the key. */
  #endKey(): void {
    const [key, marker] = [this.#key, this.#marker];
    this.#key = undefined;
    this.#marker = undefined;
    if (key === undefined || marker === undefined) return;
    const isLone = key.versions === 1;
    const due = dueForMarker(this.#now, marker, isLone) !== undefined;
    if (due || dueForMarker(this.#ever, marker, isLone) !== undefined) this.#count(key.name, 0, 'marker', due);
  }

  #count(key: string, size: number, what: PreviewKind, due: boolean): void {
    const counts = due ? this.#due : this.#later;
    counts[`${what}s`] += 1;
    counts.bytes += size;
    const examples = due ? this.#dueExamples : this.#laterExamples;
    if (examples.length < maxExamples) examples.push({ key, size, what, due });
  }
}

function noCounts(): Counts {
  return { objects: 0, versions: 0, markers: 0, uploads: 0, bytes: 0 };
}
