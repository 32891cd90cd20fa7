import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { parseBucket } from '../../../config/target.ts';
import { formatSize } from '../../../terminal/format.ts';
import { adminOf, type AdminClient } from '../../admin-client.ts';
import type { Context } from '../../context.ts';
import { parseSize } from '../entries/sizes.ts';
import { ResponseError } from '../../../../protocol/response-error.ts';

/** The quota of a bucket in the admin API. `quota` is the older name of `size`; 0 is none. */
interface BucketQuota {
  readonly quota?: number;
  readonly size?: number;
  readonly quotatype?: string;
}

/** The quota of a bucket with all fields of its server: a change of the size keeps the limits that this client does not set. */
async function quotaOf(admin: AdminClient, bucket: string): Promise<object> {
  const none = { rate: 0, requests: 0 };
  try {
    const request = { method: 'GET', call: 'get-bucket-quota', query: { bucket } } as const;
    return { ...none, ...(await admin.json<BucketQuota>(request)) };
  } catch (error) {
    // Some servers have an error for a bucket without a quota.
    if (error instanceof ResponseError && error.code === 'XMinioAdminNoSuchQuotaConfiguration') return none;
    throw error;
  }
}

/** Refuses writes to a bucket that holds this size. */
export async function setQuota(
  context: Context,
  [argument = '']: readonly string[],
  { size }: { readonly size?: string },
): Promise<void> {
  if (size === undefined) throw new ProgramError('BadArgument', 'Name the size by --size, such as 64GiB');
  const { admin, bucket } = await bucketOf(context, argument);
  const quota = parseSize('--size', size);
  const body = { ...(await quotaOf(admin, bucket)), quota, size: 0, quotatype: 'hard' };
  await admin.send({ method: 'PUT', call: 'set-bucket-quota', query: { bucket }, body });
  const human = `Successfully set bucket quota of ${formatSize(quota)} on \`${bucket}\``;
  context.output.message(human, { bucket, ...(quota > 0 && { quota }), type: 'hard' });
}

export async function showQuota(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const { admin, bucket } = await bucketOf(context, argument);
  const answer = await admin.json<BucketQuota>({ method: 'GET', call: 'get-bucket-quota', query: { bucket } });
  const quota = answer.size || answer.quota || 0;
  const kind = answer.quotatype ?? '';
  if (quota === 0) return context.output.message(`Bucket \`${bucket}\` has no quota`, { bucket });
  const human = `Bucket \`${bucket}\` has ${kind} quota of ${formatSize(quota)}`;
  const usage = await usageOf(admin, bucket);
  const more =
    usage === undefined ? '' : `, ${formatSize(usage.used)} used${usage.counting ? ', count unfinished' : ''}`;
  context.output.message(human + more, { bucket, quota, ...(kind !== '' && { type: kind }), ...usage });
}

/** The usage that counts against a quota. */
interface QuotaUsage {
  /** Bytes. */
  readonly used: number;
  /** True while, or because, the first count has not ended: `used` is too small. */
  readonly counting: boolean;
}

/** Coffer alone knows what is used. Undefined for another server. */
async function usageOf(admin: AdminClient, bucket: string): Promise<QuotaUsage | undefined> {
  try {
    const request = { method: 'GET', api: 'coffer', call: 'bucket-quota', query: { bucket } } as const;
    const { quota } = await admin.json<{ readonly quota?: QuotaUsage | null }>(request);
    return quota ? { used: quota.used, counting: quota.counting } : undefined;
  } catch (error) {
    if (error instanceof ResponseError) return undefined;
    throw error;
  }
}

export async function clearQuota(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const { admin, bucket } = await bucketOf(context, argument);
  const body = { ...(await quotaOf(admin, bucket)), quota: 0, size: 0 };
  await admin.send({ method: 'PUT', call: 'set-bucket-quota', query: { bucket }, body });
  context.output.message(`Successfully cleared bucket quota configured on \`${bucket}\``, { bucket });
}

async function bucketOf(context: Context, argument: string): Promise<{ admin: AdminClient; bucket: string }> {
  const { aliasName, bucket } = parseBucket(argument.replace(/\/+$/, ''), await context.aliases());
  return { admin: await adminOf(context, aliasName), bucket };
}
