import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { Answer } from '../http/contract/request.ts';
import type { BucketSetting, SettingCondition } from '../objects/contract/object-layer.ts';
import { createConditions } from './object-headers.ts';
import type { Operation, S3Call } from './operation.ts';

/** A call whose changes of a setting of the bucket have a condition. */
interface ConditionalCall extends S3Call {
  expect(condition: SettingCondition): void;
}

/**
 * Runs an operation on a setting of a bucket. A read answers the ETag of the setting, and a write honours `If-Match` and `If-None-Match: *`, so
 * that a client that reads, edits and writes a document does not overwrite what others wrote meanwhile. S3 has neither; other servers ignore
 * the headers.
 */
export async function handleSetting(
  call: ConditionalCall,
  operation: Operation,
  setting: BucketSetting,
): Promise<Answer> {
  const id = setting === 'inventory' ? call.query.get('id') : undefined;
  if (operation.name.startsWith('Get')) {
    // The tag is read first: if the setting changes in between, a write with the old tag is refused, and the client reads again.
    const tag = await call.objects.getSettingTag(call.bucket, setting, id);
    const headers = { etag: `"${tag}"` };
    try {
      const answer = await operation.handle(call);
      return { ...answer, headers: { ...answer.headers, ...headers } };
    } catch (error) {
      // The absence of a setting has a tag too.
      if (!(error instanceof S3Error) || error.status !== 404) throw error;
      throw new S3Error(error.code, error.message, { details: error.details, headers, cause: error });
    }
  }
  const conditions = createConditions(call.request.headers);
  if (conditions === undefined) return operation.handle(call);
  const { ifMatch, ifNoneMatch } = conditions;
  if (ifMatch?.length === 0) throw new S3Error('InvalidArgument', 'If-Match names no ETag.');
  call.expect({ setting, id, ...(ifMatch && { ifMatch }), ...(ifNoneMatch && { ifAbsent: true }) });
  return operation.handle(call);
}
