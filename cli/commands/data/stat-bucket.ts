import { counted } from '../../../platform/text/message-text.ts';
import type { BucketEncryptionRule } from '../../../protocol/s3/bucket-encryption.ts';
import type { ObjectLockRule } from '../../../protocol/s3/object-lock.ts';
import type { RemoteTarget } from '../../config/target.ts';
import { getBucketEncryption, headBucket, listBuckets } from '../../s3/buckets.ts';
import { getBucketPolicy, getObjectLock, getVersioning } from '../../s3/bucket-settings.ts';
import type { S3Client } from '../../s3/client.ts';
import { getTags } from '../../s3/object-settings.ts';
import { formatSize, formatTime } from '../../terminal/format.ts';
import type { Context } from '../context.ts';
import { bucketRules, ruleFields, type BucketRules } from './stat-bucket-more.ts';
import { accessTo, nameOf, readAnonymousAccess } from './settings/anonymous-policy.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

/** Shows what is set for a bucket. A setting that the caller may not read is left out. */
export async function statBucket(context: Context, client: S3Client, target: RemoteTarget): Promise<void> {
  const { bucket } = target;
  await headBucket(client, bucket);
  const [buckets, rule, versioning, lock, policy, tags, rules] = await Promise.all([
    permitted(listBuckets(client)),
    permitted(getBucketEncryption(client, bucket)),
    permitted(getVersioning(client, bucket)),
    permitted(getObjectLock(client, bucket)),
    permitted(getBucketPolicy(client, bucket).then((document) => ({ document }))),
    permitted(getTags(client, { bucket, key: '' })),
    bucketRules(context, client, target),
  ]);
  const created = buckets?.find(({ name }) => name === bucket)?.created;
  const encryption = encryptionOf(rule);
  const access = policy && accessOf(policy.document, bucket);
  const { mode = '', validity } = defaultOf(lock);
  const human = block({
    Name: bucket,
    Date: created && formatTime(created),
    Type: 'folder',
    Versioning: versioning && (versioning.status || 'Un-versioned'),
    Encryption: describeEncryption(encryption.algorithm, encryption.keyId) || 'not set',
    ObjectLock: lock && `Enabled${mode === '' ? '' : `, ${mode} for ${validity}`}`,
    Anonymous: access,
    Tags: tags && Object.keys(tags).length > 0 ? JSON.stringify(tags) : undefined,
    Location: rules.location,
    ILM: countOf(rules.lifecycle),
    Events: countOf(rules.notifications),
    Replicated: countOf(rules.replication.Rules ?? []),
    Usage: rules.usage && usageText(rules.usage),
  });
  context.output.message(`${human}\n`, {
    name: `${bucket}/`,
    type: 'folder',
    lastModified: created,
    size: 0,
    Versioning: versioning && { status: versioning.status, MFADelete: versioning.mfaDelete },
    Encryption: encryption,
    ObjectLock: { enabled: lock === undefined ? '' : 'Enabled', mode, validity },
    Policy: access && { type: access === 'private' ? 'none' : access, policy: policy?.document },
    tagging: tags,
    ...ruleFields(rules),
  });
}

/** Undefined for no rules, which have no line. */
function countOf(rules: readonly unknown[]): string | undefined {
  return rules.length === 0 ? undefined : counted(rules.length, 'rule');
}

function usageText({ size = 0, objectsCount = 0, versionsCount = 0 }: NonNullable<BucketRules['usage']>): string {
  return `${formatSize(size)} in ${counted(objectsCount, 'object')} and ${counted(versionsCount, 'version')}, at the last count`;
}

function encryptionOf(rule: BucketEncryptionRule | undefined): {
  readonly algorithm?: string;
  readonly keyId?: string;
} {
  if (rule === undefined) return {};
  const algorithm = algorithms[rule.scheme];
  return rule.scheme === 'SSE-KMS' ? { algorithm, keyId: rule.keyName } : { algorithm };
}

/** The default retention, with its length as other clients write it. */
export function defaultOf(rule: ObjectLockRule | undefined): { readonly mode?: string; readonly validity: string } {
  const { mode, days, years } = rule?.defaultRetention ?? {};
  if (days !== undefined) return { mode, validity: `${days}DAYS` };
  return { mode, validity: years === undefined ? '' : `${years}YEARS` };
}

/** Undefined where the caller lacks the permission, or the server has no such setting. */
async function permitted<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (error instanceof ResponseError && (error.status === 403 || error.status === 501)) return undefined;
    throw error;
  });
}

function accessOf(document: string | undefined, bucket: string): string {
  const access = readAnonymousAccess(document === undefined ? undefined : JSON.parse(document), bucket);
  const isSet = access.others.length > 0 || access.permissions.size > 0;
  return nameOf(accessTo(access, '')) ?? (isSet ? 'custom' : 'private');
}

const algorithms = { 'SSE-S3': 'AES256', 'SSE-KMS': 'aws:kms', none: undefined } as const;

/** Names an encryption for people; empty for none. */
export function describeEncryption(algorithm: unknown, keyId: unknown): string {
  if (algorithm === 'AES256') return 'SSE-S3';
  if (algorithm === 'aws:kms') return typeof keyId === 'string' ? `SSE-KMS (${keyId})` : 'SSE-KMS';
  return '';
}

/** Writes lines of `label: value`, without those that have no value. */
export function block(fields: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(fields)
    .flatMap(([label, value]) => (value === undefined ? [] : [line(label, value)]))
    .join('\n');
}

export function line(label: string, value: string): string {
  return `${label.padEnd(10)}: ${value}`.trimEnd();
}
