import { writeAcl } from '../../../protocol/s3/access/acl-document.ts';
import type { VersionOptions } from '../../objects/contract/object-layer.ts';
import { emptyAnswer, versionHeader, xmlAnswer } from '../answers.ts';
import { hideAbsence } from '../object/read-object.ts';
import type { Operation, S3Call } from '../operation.ts';
import { authorizedAcl } from './acl-request.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketAcl.html */
export const getBucketAcl: Operation = {
  name: 'GetBucketAcl',
  setting: 'grants',
  action: 's3:GetBucketAcl',
  async handle({ objects, bucket }) {
    return xmlAnswer(writeAcl(await objects.getBucketAcl(bucket)));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketAcl.html */
export const putBucketAcl: Operation = {
  name: 'PutBucketAcl',
  setting: 'grants',
  // The condition keys of the grants may be in the body.
  action: undefined,
  async handle(call) {
    const acl = await authorizedAcl(call, { action: 's3:PutBucketAcl', versionAction: 's3:PutBucketAcl' });
    await call.objects.putBucketAcl(call.bucket, acl);
    return emptyAnswer(200);
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectAcl.html */
export const getObjectAcl: Operation = {
  name: 'GetObjectAcl',
  action: 's3:GetObjectAcl',
  versionAction: 's3:GetObjectVersionAcl',
  handle: (call) =>
    hideAbsence(call, async () => {
      const acl = await call.objects.getObjectAcl(call.bucket, call.key, versionOf(call));
      return xmlAnswer(writeAcl(acl), versionHeader(acl));
    }),
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectAcl.html */
export const putObjectAcl: Operation = {
  name: 'PutObjectAcl',
  // The condition keys of the grants may be in the body.
  action: undefined,
  async handle(call) {
    const acl = await authorizedAcl(call, { action: 's3:PutObjectAcl', versionAction: 's3:PutObjectVersionAcl' });
    const { objects, bucket, key } = call;
    const put = () => objects.putObjectAcl(bucket, key, acl, { ...versionOf(call), by: call });
    return emptyAnswer(200, versionHeader(await hideAbsence(call, put)));
  },
};

function versionOf({ query, grantedObject }: S3Call): VersionOptions {
  return { versionId: query.get('versionId'), onlyId: grantedObject };
}
