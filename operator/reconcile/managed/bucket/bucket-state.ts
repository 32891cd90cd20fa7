import { counted } from '../../../../platform/text/message-text.ts';
import type { BucketEncryptionRule } from '../../../../protocol/s3/bucket-encryption.ts';
import type { NotificationRule } from '../../../../protocol/s3/bucket-notification.ts';
import type { Tags } from '../../../../protocol/s3/tagging.ts';
import type { BucketSpec } from '../../../api/bucket.ts';
import type { Json } from '../../../contract/workload.ts';
import { sameDocument } from '../create-controller.ts';
import { type ComparableLifecycleRule, wantedLifecycle } from './lifecycle-rules.ts';

/** The part of a bucket that a Bucket resource may decide, as it is found. An undefined field is absent. */
export interface BucketState {
  readonly encryption: BucketEncryptionRule | undefined;
  readonly policy: Json | undefined;
  readonly tags: Tags;
  /** Undefined where it was not asked for. */
  readonly notifications?: readonly BucketNotification[] | undefined;
  readonly versioning?: BucketVersioning | undefined;
  readonly lifecycle?: readonly ComparableLifecycleRule[] | undefined;
}

export type BucketVersioning = NonNullable<BucketSpec['versioning']>;

/** A rule without its id, which is not a part of what it does. */
export type BucketNotification = Pick<NotificationRule, 'target' | 'events' | 'prefix' | 'suffix'>;

/** The settings that a Bucket resource decides. An undefined one stays as it is found, because others may have set it. */
export interface WantedBucket extends Pick<BucketState, 'notifications' | 'versioning' | 'lifecycle'> {
  readonly encryption?: BucketEncryptionRule | 'off' | undefined;
  /** `to` is undefined for no policy. */
  readonly policy?: { readonly to: Json | undefined } | undefined;
  readonly tags: Tags;
  /** The keys of tags that the resource no longer names. */
  readonly removedTags?: readonly string[];
}

/** The settings that a resource names, as its status keeps them: `encryption`, `policy`, `tag KEY`. */
export function namedSettings({ encryption, policy, tags = {} }: BucketSpec): readonly string[] {
  return [
    ...(encryption === undefined ? [] : ['encryption']),
    ...(policy === undefined ? [] : ['policy']),
    ...Object.keys(tags).map((key) => `tag ${key}`),
  ];
}

/**
 * Returns what a resource wants. `written` are the settings that it named before: the bucket loses those that were taken out of the resource,
 * so that such a policy does not live on, and keeps those that others set.
 */
export function wantedState(spec: BucketSpec, written: readonly string[] = []): WantedBucket {
  const { encryption, policy, tags = {}, notifications, versioning, lifecycle } = spec;
  const named = namedSettings(spec);
  const gone = written.filter((setting) => !named.includes(setting));
  return {
    encryption:
      encryption === undefined ? (gone.includes('encryption') ? 'off' : undefined) : encryptionRule(encryption),
    policy: policy !== undefined || gone.includes('policy') ? { to: policy } : undefined,
    tags,
    removedTags: gone.filter((setting) => setting.startsWith('tag ')).map((setting) => setting.slice('tag '.length)),
    ...(notifications !== undefined && { notifications: comparableRules(notifications) }),
    ...(versioning !== undefined && { versioning }),
    ...(lifecycle !== undefined && { lifecycle: wantedLifecycle(lifecycle) }),
  };
}

/** Rules and events have no order. */
export function comparableRules(
  rules: readonly (BucketNotification | NonNullable<BucketSpec['notifications']>[number])[],
): readonly BucketNotification[] {
  const comparable = rules.map(({ target, events, prefix = '', suffix = '' }) => ({
    target,
    events: [...new Set(events)].toSorted((a, b) => (a < b ? -1 : 1)),
    ...(prefix !== '' && { prefix }),
    ...(suffix !== '' && { suffix }),
  }));
  return comparable.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function encryptionRule({ algorithm, keyName }: NonNullable<BucketSpec['encryption']>): BucketEncryptionRule {
  if (algorithm === 'AES256') return { scheme: 'SSE-S3' };
  return { scheme: 'SSE-KMS', ...(keyName === undefined ? {} : { keyName }) };
}

/** One change of a bucket; `difference` is its reason. */
export type BucketChange = { readonly difference: string } & (
  | { readonly kind: 'create' }
  | { readonly kind: 'encryption'; readonly to: BucketEncryptionRule | undefined }
  | { readonly kind: 'policy'; readonly to: Json | undefined }
  | { readonly kind: 'tags'; readonly to: Tags }
  | { readonly kind: 'notifications'; readonly to: readonly BucketNotification[] }
  | { readonly kind: 'versioning'; readonly to: BucketVersioning }
  | { readonly kind: 'lifecycle'; readonly to: readonly ComparableLifecycleRule[] }
);

/** Returns the encryption with what a resource cannot name as it was found: what the bucket blocks, and its bucket keys. */
function wantedEncryption(
  wanted: WantedBucket['encryption'],
  found: BucketEncryptionRule | undefined,
): BucketEncryptionRule | undefined {
  const { blocked, bucketKey } = found ?? {};
  const kept = { ...(blocked && { blocked }), ...(bucketKey !== undefined && { bucketKey }) };
  if (wanted === undefined) return found;
  if (wanted !== 'off') return { ...wanted, ...kept };
  return blocked === undefined ? undefined : { ...kept, scheme: 'none', blocked };
}

function wantedTags({ tags, removedTags = [] }: WantedBucket, found: Tags): Tags {
  const kept = Object.entries(found).filter(([key]) => !removedTags.includes(key));
  return { ...Object.fromEntries(kept), ...tags };
}

function wantedPolicy(wanted: WantedBucket['policy'], found: Json | undefined): Json | undefined {
  return wanted === undefined ? found : wanted.to;
}

/** Returns the changes that make the found bucket the wanted one, in this order. `found` is undefined where there is no bucket. */
export function diffBucket(wanted: WantedBucket, found: BucketState | undefined): readonly BucketChange[] {
  const now: BucketState = found ?? { encryption: undefined, policy: undefined, tags: {} };
  const changes: BucketChange[] = [];
  if (found === undefined) changes.push({ kind: 'create', difference: 'there is no such bucket' });
  const { versioning, lifecycle } = wanted;
  const encryption = wantedEncryption(wanted.encryption, now.encryption);
  const tags = wantedTags(wanted, now.tags);
  const policy = wantedPolicy(wanted.policy, now.policy);
  if (versioning !== undefined && versioning !== now.versioning) {
    const difference = `versioning is ${now.versioning ?? 'off'} and should be ${versioning}`;
    changes.push({ kind: 'versioning', to: versioning, difference });
  }
  // The encryption comes before the policy, so that no user whom the policy lets in writes plain bodies.
  if (!sameDocument(encryption, now.encryption)) {
    const difference = `encryption is ${describeEncryption(now.encryption)} and should be ${describeEncryption(encryption)}`;
    changes.push({ kind: 'encryption', to: encryption, difference });
  }
  if (!sameDocument(tags, now.tags)) {
    changes.push({ kind: 'tags', to: tags, difference: describeTags(tags, now.tags) });
  }
  if (!sameDocument(policy, now.policy)) {
    changes.push({ kind: 'policy', to: policy, difference: describePolicy(policy, now.policy) });
  }
  const { notifications } = wanted;
  if (notifications !== undefined && !sameDocument(notifications, now.notifications ?? [])) {
    const targets = notifications.map(({ target }) => target).join(', ') || 'none';
    changes.push({
      kind: 'notifications',
      to: notifications,
      difference: `notifications differ: they should go to ${targets}`,
    });
  }
  if (lifecycle !== undefined && !sameDocument(lifecycle, now.lifecycle ?? [])) {
    const difference = `lifecycle differs: there should be ${countOf(lifecycle.length)}, and there ${isAre(now.lifecycle?.length ?? 0)}`;
    changes.push({ kind: 'lifecycle', to: lifecycle, difference });
  }
  return changes;
}

function countOf(rules: number): string {
  return rules === 0 ? 'no rule' : counted(rules, 'rule');
}

function isAre(rules: number): string {
  return `${rules === 1 ? 'is' : 'are'} ${rules === 0 ? 'none' : rules}`;
}

function describeEncryption(rule: BucketEncryptionRule | undefined): string {
  if (rule === undefined) return 'off';
  const beside = rule.blocked === undefined ? '' : `, blocking ${rule.blocked.join(', ') || 'nothing'}`;
  switch (rule.scheme) {
    case 'none':
      return `off${beside}`;
    case 'SSE-S3':
      return `AES256${beside}`;
    case 'SSE-KMS':
      return `aws:kms with ${rule.keyName === undefined ? 'the default key' : `the key ${rule.keyName}`}${beside}`;
  }
}

/** Names keys only: a list of 50 tags is for no one to read. */
function describeTags(wanted: Tags, found: Tags): string {
  const keys = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].filter(
    (key) => wanted[key] !== found[key],
  );
  const shown = keys.sort().slice(0, 5).join(', ');
  return `tags differ: ${shown}${keys.length > 5 ? ` and ${keys.length - 5} more` : ''}`;
}

function describePolicy(wanted: Json | undefined, found: Json | undefined): string {
  if (wanted === undefined) return 'there is a policy and should be none';
  return found === undefined ? 'there is no policy' : 'the policy differs';
}
