import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Operation } from '../operation.ts';
import { readActions } from '../operation.ts';

/**
 * Its modules are loaded by the first query: other requests need none of them.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_SelectObjectContent.html
 */
export const selectObjectContent: Operation = {
  name: 'SelectObjectContent',
  ...readActions,
  async handle(call) {
    // As in AWS. A query takes a process for up to minutes: a public bucket would give those of all users to strangers.
    if (call.auth.principal.kind === 'anonymous') {
      throw new S3Error('AccessDenied', 'Anonymous access is not supported for this operation');
    }
    const { selectObject } = await import('./select-object.ts');
    return selectObject(call);
  },
};
