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
    const { selectObject } = await import('./select-object.ts');
    return selectObject(call);
  },
};
