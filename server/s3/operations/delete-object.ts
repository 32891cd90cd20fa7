import type { DeleteConditions } from '../../objects/object-layer.ts';
import { emptyAnswer } from '../answers.ts';
import { deleteConditions } from '../conditions.ts';
import type { Operation, S3Call } from '../operation.ts';
import { checkVersion } from '../version-id.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html */
export const deleteObject: Operation = {
  name: 'DeleteObject',
  action: 's3:DeleteObject',
  async handle(call) {
    checkVersion(call.query.get('versionId'));
    const conditions = deleteConditions(call.request.headers);
    await requireReading(call, call.key, conditions);
    await call.objects.deleteObject(call.bucket, call.key, conditions);
    return emptyAnswer(204);
  },
};

/**
 * Whoever deletes under a condition learns from the answer what the object is: it takes the right to read it, as in S3. `*` tells only
 * whether there is one.
 */
export async function requireReading(
  call: Pick<S3Call, 'bucket' | 'require'>,
  key: string,
  conditions: DeleteConditions | undefined,
): Promise<void> {
  if (conditions === undefined) return;
  const { ifMatch, size, lastModified } = conditions;
  const onlyExists =
    ifMatch?.every((etag) => etag === '*') === true && size === undefined && lastModified === undefined;
  if (!onlyExists) await call.require('s3:GetObject', `${call.bucket}/${key}`);
}
