import type { VersionEntry } from '../../../../protocol/s3/responses.ts';
import { listVersions } from '../../../s3/list-objects.ts';
import type { ReplicationRule } from '../../../s3/replication.ts';
import type { AdminClient } from '../../admin-client.ts';
import {
  decidingRule,
  dependsOnTags,
  mustAgree,
  mustBeGone,
  mustBeThere,
  type SourceState,
} from './expected-versions.ts';
import { plainId, type VersionPair } from './join-versions.ts';
import { keyStates } from './source-states.ts';
import { differingAttributes, readAttributes, readMarker, type Side } from './version-attributes.ts';

/** The two sides, and what is to be the same. */
export interface Compared {
  readonly source: Side;
  readonly target: Side;
  readonly arn: string;
  readonly rules: readonly ReplicationRule[];
  /** Of the source. */
  readonly admin: AdminClient;
}

export interface Difference {
  /**
   * `missing`: only the source has the version. `differs`: both have it. `extra`: the source has removed it. `pending`: one of these, and the
   * change is still to be sent. `unknown`: one side does not show it.
   */
  readonly kind: 'missing' | 'differs' | 'extra' | 'pending' | 'unknown';
  readonly key: string;
  readonly versionId: string;
  readonly deleteMarker: boolean;
  /** The parts that differ: `version`, `removal`, `kind`, `size`, `etag`, `metadata`, `tags`, `retention`, `legalHold`. */
  readonly fields: readonly string[];
  /** The state at the source; undefined for a version that no rule has sent. */
  readonly state?: string;
  readonly reason?: string;
}

/**
 * Compares a version on both sides. Returns undefined where they agree, or where the rules do not ask for it. What differs is read again after
 * the source has said that nothing waits: both sides change while they are compared.
 */
export async function compareVersion(
  compared: Compared,
  { source, target }: VersionPair,
  withAttributes: boolean,
): Promise<Difference | undefined> {
  if (source === undefined) return target && compareExtra(compared, target);
  if (target === undefined) return compareMissing(compared, source);
  const first = await differingFields(compared, source, target, withAttributes);
  if (first.kind === 'same') return undefined;
  if (first.kind === 'gone') return compareMissing(compared, source);
  const states = await keyStates(compared.admin, keyOf(compared, source), { removals: false });
  const state = states.stateOf(source.versionId);
  const { fields } = first;
  const found = await ruleOf(compared, source);
  if (found.kind === 'unknown') return differenceOf(source, 'unknown', fields, state, found.reason);
  if (found.rule === undefined || !mustAgree(found.rule, state)) return undefined;
  if (state.atTarget === 'PENDING') return differenceOf(source, 'pending', fields, state);
  const again = await differingFields(compared, source, target, withAttributes);
  // A client may have changed the version since: what it has changed waits.
  const late = (await keyStates(compared.admin, keyOf(compared, source), { removals: false })).stateOf(
    source.versionId,
  );
  switch (again.kind) {
    case 'same':
      return undefined;
    case 'gone':
      return compareMissing(compared, source);
    case 'unknown':
      return differenceOf(source, 'unknown', again.fields, state, again.reason);
    case 'differs':
      return differenceOf(source, late.atTarget === 'PENDING' ? 'pending' : 'differs', again.fields, late);
    default:
      return again satisfies never;
  }
}

type Fields =
  | { readonly kind: 'same' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'differs'; readonly fields: readonly string[] }
  | { readonly kind: 'unknown'; readonly fields: readonly string[]; readonly reason: string };

async function differingFields(
  compared: Compared,
  source: VersionEntry,
  target: VersionEntry,
  withAttributes: boolean,
): Promise<Fields> {
  if (source.deleteMarker !== target.deleteMarker) return { kind: 'differs', fields: ['kind'] };
  if (source.deleteMarker) return { kind: 'same' };
  const fields = (['size', 'etag'] as const).filter((field) => source[field] !== target[field]);
  if (!withAttributes) return fields.length === 0 ? { kind: 'same' } : { kind: 'differs', fields };
  const [here, there] = await Promise.all([
    readAttributes(compared.source, source.key, source.versionId),
    readAttributes(compared.target, target.key, target.versionId),
  ]);
  const hidden = [unreadable('the source', here), unreadable('the target', there)].find((one) => one !== undefined);
  if (hidden !== undefined) return { kind: 'unknown', fields, reason: hidden };
  if (here.kind !== 'read' || there.kind !== 'read') return { kind: 'gone' };
  const all = [...fields, ...differingAttributes(here.attributes, there.attributes)];
  return all.length === 0 ? { kind: 'same' } : { kind: 'differs', fields: all };
}

function unreadable(side: string, read: { readonly kind: string; readonly reason?: string }): string | undefined {
  return read.kind === 'unknown' ? `${side} does not show it: ${read.reason}` : undefined;
}

async function compareMissing(compared: Compared, source: VersionEntry): Promise<Difference | undefined> {
  const state = (await keyStates(compared.admin, keyOf(compared, source), { removals: false })).stateOf(
    source.versionId,
  );
  const missing = ['version'];
  const found = await ruleOf(compared, source);
  if (found.kind === 'unknown') return differenceOf(source, 'unknown', missing, state, found.reason);
  if (found.rule === undefined || !mustBeThere(found.rule, source.deleteMarker, state)) return undefined;
  if (state.atTarget === 'PENDING') return differenceOf(source, 'pending', missing, state);
  // It may have arrived, or be removed, since the listing.
  const target = await listedVersion(compared.target, source);
  if (target !== undefined) {
    const late = await differingFields(compared, source, target, true);
    if (late.kind === 'differs') return differenceOf(source, 'differs', late.fields, state);
    if (late.kind === 'unknown') return differenceOf(source, 'unknown', late.fields, state, late.reason);
    if (late.kind === 'same') return undefined;
  }
  if ((await listedVersion(compared.source, source)) === undefined) return undefined;
  return differenceOf(source, 'missing', missing, state);
}

/** A version that a client of the target has made is not the concern of the rules: the target says that a version, or a delete marker, is a replica. */
async function compareExtra(compared: Compared, target: VersionEntry): Promise<Difference | undefined> {
  const { key, versionId, deleteMarker } = target;
  if (!compared.rules.some((rule) => mustBeGone(rule, deleteMarker))) return undefined;
  const extra = ['removal'];
  let tags = {};
  const read = await (deleteMarker ? readMarker : readAttributes)(compared.target, key, versionId);
  if (read.kind === 'unknown') return differenceOf(target, 'unknown', extra, undefined, unreadable('the target', read));
  if (read.kind === 'gone' || read.status !== 'REPLICA') return undefined;
  if (read.kind === 'read') tags = read.attributes.tags;
  const rule = decidingRule(compared.rules, key, tags);
  if (rule === undefined || !mustBeGone(rule, deleteMarker)) return undefined;
  const states = await keyStates(compared.admin, keyOf(compared, target), { removals: true });
  if (states.isRemovalWaiting(versionId)) return differenceOf(target, 'pending', extra);
  // It may have come to the source, or be removed at the target, since the listing.
  const [here, there] = await Promise.all([
    listedVersion(compared.source, target),
    listedVersion(compared.target, target),
  ]);
  return here === undefined && there !== undefined ? differenceOf(target, 'extra', extra) : undefined;
}

/** The tags of the source decide, where a rule has tags. */
async function ruleOf(
  { source, rules }: Compared,
  { key, versionId, deleteMarker }: VersionEntry,
): Promise<
  | { readonly kind: 'found'; readonly rule: ReplicationRule | undefined }
  | { readonly kind: 'unknown'; readonly reason: string }
> {
  if (deleteMarker || !dependsOnTags(rules, key)) return { kind: 'found', rule: decidingRule(rules, key, {}) };
  const read = await readAttributes(source, key, versionId);
  const reason = unreadable('the source', read);
  if (reason !== undefined) return { kind: 'unknown', reason };
  return { kind: 'found', rule: read.kind === 'read' ? decidingRule(rules, key, read.attributes.tags) : undefined };
}

/** Lists the versions of a key until one is found. A read could be passed on to the other side. */
async function listedVersion(
  { client, bucket }: Side,
  { key, versionId }: VersionEntry,
): Promise<VersionEntry | undefined> {
  for await (const page of listVersions(client, { bucket, prefix: key, recursive: true })) {
    for (const one of page) {
      if (typeof one === 'string') continue;
      if (one.key !== key) return undefined;
      if (plainId(one.versionId) === plainId(versionId)) return one;
    }
  }
  return undefined;
}

function keyOf({ source, arn }: Compared, { key }: VersionEntry): Parameters<typeof keyStates>[1] {
  return { bucket: source.bucket, arn, key };
}

function differenceOf(
  { key, versionId, deleteMarker }: VersionEntry,
  kind: Difference['kind'],
  fields: readonly string[],
  state?: SourceState,
  reason = state?.refused,
): Difference {
  const status = state?.atTarget ?? state?.status;
  return {
    kind,
    key,
    versionId,
    deleteMarker,
    fields,
    ...(status !== undefined && { state: status }),
    ...(reason !== undefined && { reason }),
  };
}
