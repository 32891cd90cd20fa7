import {
  GetObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { isUnknown, type Operation, type State } from './operation.ts';
import { bodyOf, etagOf } from './s3-register.ts';

interface ListedVersion {
  readonly versionId: string;
  readonly isLatest: boolean;
  /** Undefined for a delete marker. */
  readonly etag: string | undefined;
}

/** The number of bodies of a key that are read back, spread over its versions. */
const BODIES = 100;

/**
 * The versions of a bucket, against the acknowledged writes: each write has left one version, with its value, no other version is there, and
 * their order does not contradict the order in which clients saw the writes.
 */
export class VersionCheck {
  /** By key: the value of each version that was acknowledged. */
  readonly #acknowledged = new Map<string, Map<string, State>>();
  versions = 0;

  add(key: string, value: State, versionId: string): void {
    const ofKey = this.#acknowledged.get(key) ?? new Map<string, State>();
    this.#acknowledged.set(key, ofKey.set(versionId, value));
  }

  async violations(s3: S3Client, bucket: string, history: readonly Operation[]): Promise<string[]> {
    const violations: string[] = [];
    for (const [key, operations] of Map.groupBy(history, (operation) => operation.key)) {
      const listed = await listVersions(s3, bucket, key);
      const acknowledged = this.#acknowledged.get(key) ?? new Map<string, State>();
      this.#acknowledged.delete(key);
      this.versions += listed.length;
      const found = [
        ...violationsOfVersions(listed, acknowledged, operations),
        ...(await violationsOfBodies(s3, { bucket, key }, acknowledged)),
      ];
      violations.push(...found.map((violation) => `${key}: ${violation}`));
    }
    return violations;
  }
}

/** `listed` is newest first. */
export function violationsOfVersions(
  listed: readonly ListedVersion[],
  acknowledged: ReadonlyMap<string, State>,
  operations: readonly Operation[],
): string[] {
  const violations: string[] = [];
  const ids = new Set(listed.map(({ versionId }) => versionId));
  for (const [id, value] of acknowledged) {
    if (!ids.has(id)) violations.push(`version ${id} of ${value ?? 'a deletion'} was acknowledged, and is not listed`);
  }
  const unknown = unknownWrites(operations);
  for (const { versionId, etag } of listed) {
    const isKnown = acknowledged.has(versionId);
    const value = acknowledged.get(versionId);
    if (isKnown && etag === (value === undefined ? undefined : etagOf(bodyOf(value)))) continue;
    if (isKnown)
      violations.push(`version ${versionId} of ${value ?? 'a deletion'} is listed with ETag ${etag ?? 'none'}`);
    else if (!unknown.delete(etag)) violations.push(`version ${versionId} is listed, and no client wrote it`);
  }
  if (listed.some(({ isLatest }, at) => isLatest !== (at === 0)))
    violations.push('the first version alone is the latest');
  return [...violations, ...violationsOfOrder(listed, acknowledged, operations)];
}

/** The ETags of writes without an answer, each of which can have left one version. Deletions are counted together. */
function unknownWrites(operations: readonly Operation[]): { delete(etag: string | undefined): boolean } {
  const etags = new Set<string>();
  let deletions = 0;
  for (const { action } of operations) {
    if (!isUnknown(action)) continue;
    if (action.kind === 'put') etags.add(etagOf(bodyOf(action.value)));
    else deletions += 1;
  }
  return {
    delete(etag) {
      if (etag !== undefined) return etags.delete(etag);
      deletions -= 1;
      return deletions >= 0;
    },
  };
}

/** A write that was answered before another one was called is the older version. */
function violationsOfOrder(
  listed: readonly ListedVersion[],
  acknowledged: ReadonlyMap<string, State>,
  operations: readonly Operation[],
): string[] {
  const writes = new Map(
    operations.map((operation) => [operation.action.kind === 'put' ? operation.action.value : '', operation]),
  );
  const violations: string[] = [];
  let latestCall = 0;
  for (const { versionId } of listed.toReversed()) {
    const value = acknowledged.get(versionId);
    const write = value === undefined ? undefined : writes.get(value);
    if (write === undefined) continue;
    if (write.answered < latestCall)
      violations.push(`version ${versionId} of ${value} is after one whose call came later`);
    latestCall = Math.max(latestCall, write.called);
  }
  return violations;
}

async function violationsOfBodies(
  s3: S3Client,
  { bucket, key }: { readonly bucket: string; readonly key: string },
  acknowledged: ReadonlyMap<string, State>,
): Promise<string[]> {
  const objects = [...acknowledged].filter(([, value]) => value !== undefined);
  const step = Math.ceil(objects.length / BODIES);
  const violations: string[] = [];
  for (const [VersionId, value = ''] of objects.filter((_, at) => at % step === 0)) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key, VersionId }));
    const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
    if (!bytes.equals(bodyOf(value))) violations.push(`version ${VersionId} of ${value} has another body`);
  }
  return violations;
}

async function listVersions(s3: S3Client, Bucket: string, key: string): Promise<ListedVersion[]> {
  const listed: ListedVersion[] = [];
  let page: Partial<ListObjectVersionsCommandOutput> = {};
  do {
    const { NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page;
    page = await s3.send(new ListObjectVersionsCommand({ Bucket, Prefix: key, KeyMarker, VersionIdMarker }));
    const versions = [
      ...(page.Versions ?? []),
      ...(page.DeleteMarkers ?? []).map((marker) => ({ ...marker, ETag: undefined })),
    ];
    for (const { Key, VersionId = '', IsLatest = false, ETag } of versions) {
      if (Key === key) listed.push({ versionId: VersionId, isLatest: IsLatest, etag: ETag });
    }
  } while (page.IsTruncated === true);
  // Delete markers come in a list of their own; ids grow with time.
  return listed.toSorted((left, right) => (left.versionId < right.versionId ? 1 : -1));
}
