import { emptyAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { checkVersion } from '../version-id.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html */
export const deleteObject: Operation = {
  name: 'DeleteObject',
  action: 's3:DeleteObject',
  async handle(call) {
    checkVersion(call.query.get('versionId'));
    await call.objects.deleteObject(call.bucket, call.key);
    return emptyAnswer(204);
  },
};
