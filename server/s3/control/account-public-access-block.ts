import {
  maxPublicAccessBlock,
  parsePublicAccessBlock,
  writePublicAccessBlock,
} from '../../../protocol/s3/access/public-access-block.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

const namespace = 'http://awss3control.amazonaws.com/doc/2018-08-20/';

/**
 * The public access block of the account, by the methods of its requests. S3 Control, an API of its own, has them at
 * `/v20180820/configuration/publicAccessBlock`, under the names of the operations on a bucket.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_control_PutPublicAccessBlock.html
 */
export const accountOperations: Readonly<Record<string, Operation>> = {
  GET: {
    name: 'GetAccountPublicAccessBlock',
    action: 's3:GetAccountPublicAccessBlock',
    async handle(call) {
      const block = await call.objects.getAccountPublicAccessBlock();
      if (block !== undefined) return xmlAnswer(writePublicAccessBlock(block, namespace));
      throw new S3Error('NoSuchPublicAccessBlockConfiguration');
    },
  },
  PUT: {
    name: 'PutAccountPublicAccessBlock',
    action: 's3:PutAccountPublicAccessBlock',
    async handle(call) {
      const block = parsePublicAccessBlock(await readDocument(call, maxPublicAccessBlock));
      await call.objects.putAccountPublicAccessBlock(block);
      return emptyAnswer(200);
    },
  },
  DELETE: {
    name: 'DeleteAccountPublicAccessBlock',
    action: 's3:PutAccountPublicAccessBlock',
    async handle(call) {
      await call.objects.putAccountPublicAccessBlock(undefined);
      return emptyAnswer(204);
    },
  },
};

/** @throws S3Error MethodNotAllowed */
export function accountOperation(method: string): Operation {
  const operation = accountOperations[method];
  if (operation === undefined) throw new S3Error('MethodNotAllowed');
  return operation;
}
