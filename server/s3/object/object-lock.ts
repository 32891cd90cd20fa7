import {
  maxLockDocument,
  parseLegalHold,
  parseRetention,
  writeLegalHold,
  writeRetention,
} from '../../../protocol/s3/object-lock.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectLock } from '../../objects/contract/object-layer.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import { authorizedDocument } from '../authorized-document.ts';
import { bypassesGovernance, lockContext } from '../tag-and-lock-headers.ts';
import type { Operation, S3Call, VersionActions } from '../operation.ts';
import { hideAbsence } from './read-object.ts';

/** S3 has one action for an object and for its versions. */
function bothBy(action: string): VersionActions {
  return { action, versionAction: action };
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectRetention.html */
export const getObjectRetention: Operation = {
  name: 'GetObjectRetention',
  action: 's3:GetObjectRetention',
  handle: (call) =>
    hideAbsence(call, async () => {
      const { retention } = await lockOf(call);
      if (retention === undefined) throw new S3Error('NoSuchObjectLockConfiguration');
      return xmlAnswer(writeRetention(retention));
    }),
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectRetention.html */
export const putObjectRetention: Operation = {
  name: 'PutObjectRetention',
  // The condition keys of the retention are in the body.
  action: undefined,
  async handle(call) {
    const retention = await authorizedDocument(call, {
      actions: bothBy('s3:PutObjectRetention'),
      keys: ['mode', 'retain-until-date', 'remaining-retention-days'].map((name) => `s3:object-lock-${name}`),
      maxBytes: maxLockDocument,
      parse: parseRetention,
      context: (value) => (value === undefined ? {} : lockContext({ retention: value }, call.now)),
    });
    const versionId = call.query.get('versionId');
    const bypassGovernance = await bypassesGovernance(call, call.key, versionId);
    const change = { versionId, onlyId: call.grantedObject, retention, bypassGovernance, by: call };
    await hideAbsence(call, () => call.objects.putObjectRetention(call.bucket, call.key, change));
    return emptyAnswer(200);
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectLegalHold.html */
export const getObjectLegalHold: Operation = {
  name: 'GetObjectLegalHold',
  action: 's3:GetObjectLegalHold',
  handle: (call) =>
    hideAbsence(call, async () => {
      const { legalHold } = await lockOf(call);
      if (legalHold === undefined) throw new S3Error('NoSuchObjectLockConfiguration');
      return xmlAnswer(writeLegalHold(legalHold));
    }),
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectLegalHold.html */
export const putObjectLegalHold: Operation = {
  name: 'PutObjectLegalHold',
  // The condition key of the legal hold is in the body.
  action: undefined,
  async handle(call) {
    const legalHold = await authorizedDocument(call, {
      actions: bothBy('s3:PutObjectLegalHold'),
      keys: ['s3:object-lock-legal-hold'],
      maxBytes: maxLockDocument,
      parse: parseLegalHold,
      context: (value) => lockContext({ legalHold: value }, call.now),
    });
    const versionId = call.query.get('versionId');
    const change = { versionId, onlyId: call.grantedObject, legalHold, by: call };
    await hideAbsence(call, () => call.objects.putObjectLegalHold(call.bucket, call.key, change));
    return emptyAnswer(200);
  },
};

function lockOf({ objects, bucket, key, query, grantedObject }: S3Call): Promise<ObjectLock> {
  return objects.getObjectLock(bucket, key, query.get('versionId'), grantedObject);
}
