import { requestTagContext } from '../../../protocol/policy/tag-context.ts';
import { maxTaggingDocument, parseTagging, type Tags, writeTagging } from '../../../protocol/s3/tagging.ts';
import { emptyAnswer, versionHeader, xmlAnswer } from '../answers.ts';
import { authorizedDocument } from '../authorized-document.ts';
import { type Operation, readTagsActions, type S3Call } from '../operation.ts';
import { putTagsActions } from '../tag-and-lock-headers.ts';
import { readTagsElsewhere } from './read-elsewhere.ts';
import { hideAbsence } from './read-object.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectTagging.html */
export const getObjectTagging: Operation = {
  name: 'GetObjectTagging',
  ...readTagsActions,
  handle: (call) =>
    hideAbsence(call, async () => {
      const { bucket, key, query, grantedObject } = call;
      try {
        const found = await call.objects.getObjectTags(bucket, key, query.get('versionId'), grantedObject);
        return xmlAnswer(writeTagging(found.tags), versionHeader(found));
      } catch (error) {
        const found = await readTagsElsewhere(call, error);
        if (found === undefined) throw error;
        return xmlAnswer(writeTagging(found.tags), versionHeader(found));
      }
    }),
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectTagging.html */
export const putObjectTagging: Operation = {
  name: 'PutObjectTagging',
  // The condition keys of the tags are in the body.
  action: undefined,
  async handle(call) {
    const tags = await authorizedDocument(call, {
      actions: putTagsActions,
      keys: ['s3:requestobjecttag/', 's3:requestobjecttagkeys'],
      maxBytes: maxTaggingDocument,
      parse: (document) => parseTagging(document, 'object'),
      context: requestTagContext,
    });
    return emptyAnswer(200, versionHeader(await putTags(call, tags)));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjectTagging.html */
export const deleteObjectTagging: Operation = {
  name: 'DeleteObjectTagging',
  action: 's3:DeleteObjectTagging',
  versionAction: 's3:DeleteObjectVersionTagging',
  async handle(call) {
    return emptyAnswer(204, versionHeader(await putTags(call, {})));
  },
};

function putTags(call: S3Call, tags: Tags) {
  const { objects, bucket, key, query, grantedObject } = call;
  return hideAbsence(call, () => objects.putObjectTags(bucket, key, tags, query.get('versionId'), grantedObject, call));
}
