import { hideAbsence } from './read-object.ts';
import { maxRestoreDocument, parseRestoreRequest } from '../../../protocol/s3/lifecycle/restore-request.ts';
import { emptyAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

/**
 * Asks for a temporary copy of a body in a tier. The body can be read without it, more slowly.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_RestoreObject.html
 */
export const restoreObject: Operation = {
  name: 'RestoreObject',
  action: 's3:RestoreObject',
  async handle(call) {
    const days = parseRestoreRequest(await readDocument(call, maxRestoreDocument));
    const request = {
      bucket: call.bucket,
      key: call.key,
      versionId: call.query.get('versionId'),
      onlyId: call.grantedObject,
      days,
      by: call,
    };
    const outcome = await hideAbsence(call, () => call.objects.requestRestore(request));
    return emptyAnswer(outcome === 'asked' ? 202 : 200);
  },
};
