import { z } from 'zod';
import {
  adminPath,
  type AdminAnswer,
  type AdminCall,
  cofferPath,
  json,
  jsonBody,
  nothing,
  type Route,
} from './call.ts';
import { adminError } from '../administration/admin-error.ts';
import type { RequestError } from '../../protocol/request-error.ts';

/** The quota of a bucket: the calls of `mc quota`, and one that also says how much is used. */
export const quotaRoutes: readonly Route[] = [
  { method: 'PUT', path: adminPath('set-bucket-quota'), action: 'admin:SetBucketQuota', serve: setBucketQuota },
  { method: 'GET', path: adminPath('get-bucket-quota'), action: 'admin:GetBucketQuota', serve: getBucketQuota },
  { method: 'GET', path: cofferPath('bucket-quota'), action: 'admin:GetBucketQuota', serve: showBucketQuota },
];

const bytes = z.int().nonnegative().optional();

/** Older clients send `quota`, newer ones `size` or both. 0 is not a quota. */
const quotaSchema = z.strictObject({
  quota: bytes,
  size: bytes,
  rate: bytes,
  requests: bytes,
  quotatype: z.string().optional(),
});

/** Resolves when the quota is exact: the first one of a bucket waits until the bucket is counted. */
async function setBucketQuota(call: AdminCall): Promise<AdminAnswer> {
  const bucket = call.required('bucket');
  const { quota = 0, size = 0, rate = 0, requests = 0, quotatype = 'hard' } = await jsonBody(call, quotaSchema);
  if (rate > 0 || requests > 0) throw invalid('Coffer limits the bytes of a bucket, not its rate or its requests.');
  if (quotatype !== 'hard' && quotatype !== '') throw invalid(`The quota type ${quotatype} is not known: use hard.`);
  if (quota > 0 && size > 0 && quota !== size) throw invalid('quota and size are not the same.');
  const limit = Math.max(quota, size);
  await bucketsOf(call).putBucketQuota(bucket, limit === 0 ? undefined : limit);
  return nothing;
}

async function getBucketQuota(call: AdminCall): Promise<AdminAnswer> {
  const quota = await bucketsOf(call).getBucketQuota(call.required('bucket'));
  const limit = quota?.bytes ?? 0;
  return json({ quota: limit, size: limit, rate: 0, requests: 0, ...(limit > 0 && { quotatype: 'hard' }) });
}

/** `quota` is null for a bucket without one. */
async function showBucketQuota(call: AdminCall): Promise<AdminAnswer> {
  return json({ quota: (await bucketsOf(call).getBucketQuota(call.required('bucket'))) ?? null });
}

function bucketsOf({ services: { buckets } }: AdminCall) {
  if (buckets !== undefined) return buckets;
  throw adminError('XCofferRefused', 'This server does not administer buckets.');
}

function invalid(message: string): RequestError {
  return adminError('XCofferInvalidRequest', message);
}
