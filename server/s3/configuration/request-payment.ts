import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { child, malformed, readXml } from '../../../protocol/s3/xml-reader.ts';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation } from '../operation.ts';
import { readDocument } from '../request-body.ts';

const maxBytes = 8 * 1_024;

/**
 * The payer is stored and answered. It changes nothing else: requests cost nothing here.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketRequestPayment.html
 */
export const getBucketRequestPayment: Operation = {
  name: 'GetBucketRequestPayment',
  setting: 'payer',
  action: 's3:GetBucketRequestPayment',
  async handle(call) {
    const { payer = 'BucketOwner' } = await call.objects.getBucketCharges(call.bucket);
    return xmlAnswer(xmlDocument('RequestPaymentConfiguration', [element('Payer', payer)]));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketRequestPayment.html */
export const putBucketRequestPayment: Operation = {
  name: 'PutBucketRequestPayment',
  setting: 'payer',
  action: 's3:PutBucketRequestPayment',
  async handle(call) {
    const text = onlyText(await readDocument(call, maxBytes), 'RequestPaymentConfiguration', 'Payer');
    if (text !== 'Requester' && text !== 'BucketOwner') throw malformed('"Payer" must be Requester or BucketOwner');
    await call.objects.putBucketCharges(call.bucket, { payer: text });
    return emptyAnswer(200);
  },
};

/**
 * The state of transfer acceleration is stored and answered. It changes nothing else: the server has no edge locations.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketAccelerateConfiguration.html
 */
export const getBucketAccelerate: Operation = {
  name: 'GetBucketAccelerateConfiguration',
  setting: 'acceleration',
  action: 's3:GetAccelerateConfiguration',
  async handle(call) {
    const { acceleration } = await call.objects.getBucketCharges(call.bucket);
    const status = acceleration === undefined ? [] : [element('Status', acceleration)];
    return xmlAnswer(xmlDocument('AccelerateConfiguration', status));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketAccelerateConfiguration.html */
export const putBucketAccelerate: Operation = {
  name: 'PutBucketAccelerateConfiguration',
  setting: 'acceleration',
  action: 's3:PutAccelerateConfiguration',
  async handle(call) {
    const text = onlyText(await readDocument(call, maxBytes), 'AccelerateConfiguration', 'Status');
    if (text !== 'Enabled' && text !== 'Suspended') throw malformed('"Status" must be Enabled or Suspended');
    if (call.bucket.includes('.')) {
      throw new S3Error(
        'InvalidRequest',
        'S3 Transfer Acceleration is not supported for buckets with periods (.) in their names',
      );
    }
    await call.objects.putBucketCharges(call.bucket, { acceleration: text });
    return emptyAnswer(200);
  },
};

function onlyText(document: Buffer | string, root: string, name: string): string | undefined {
  const node = readXml(document, { maxBytes, maxElements: 10, root });
  const found = child(node, name);
  if (found === undefined || node.children.length > 1 || found.children.length > 0) {
    throw malformed(`"${root}" must have "${name}", and nothing else`);
  }
  return found.text.trim();
}
