import type { IncomingHttpHeaders } from 'node:http';
import { requestTagContext } from '../../../protocol/policy/tag-context.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import {
  maxTaggingDocument,
  parseTagging,
  parseTaggingHeader,
  type Tags,
  writeTagging,
} from '../../../protocol/s3/tagging.ts';
import type { CopySource } from '../../objects/object-layer.ts';
import { emptyAnswer, versionHeader, xmlAnswer } from '../answers.ts';
import { authorizedDocument } from '../authorized-document.ts';
import { type Operation, readTagsActions, type S3Call, type VersionActions } from '../operation.ts';
import { header } from '../request.ts';
import { answerRead } from './read-object.ts';

const putActions: VersionActions = { action: 's3:PutObjectTagging', versionAction: 's3:PutObjectVersionTagging' };

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectTagging.html */
export const getObjectTagging: Operation = {
  name: 'GetObjectTagging',
  ...readTagsActions,
  handle: (call) =>
    answerRead(call, async () => {
      const found = await call.objects.getObjectTags(call.bucket, call.key, call.query.get('versionId'));
      return xmlAnswer(writeTagging(found.tags), versionHeader(found));
    }),
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectTagging.html */
export const putObjectTagging: Operation = {
  name: 'PutObjectTagging',
  // The condition keys of the tags are in the body.
  action: undefined,
  async handle(call) {
    const tags = await authorizedDocument(call, {
      actions: putActions,
      keys: ['s3:requestobjecttag/', 's3:requestobjecttagkeys'],
      maxBytes: maxTaggingDocument,
      parse: (document) => parseTagging(document, 'object'),
      context: requestTagContext,
    });
    const { bucket, key, query } = call;
    return emptyAnswer(200, versionHeader(await call.objects.putObjectTags(bucket, key, tags, query.get('versionId'))));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjectTagging.html */
export const deleteObjectTagging: Operation = {
  name: 'DeleteObjectTagging',
  action: 's3:DeleteObjectTagging',
  versionAction: 's3:DeleteObjectVersionTagging',
  async handle({ objects, bucket, key, query }) {
    return emptyAnswer(204, versionHeader(await objects.putObjectTags(bucket, key, {}, query.get('versionId'))));
  },
};

/** Reads `x-amz-tagging`. Without the header, or without a tag in it, it is undefined. */
export function taggingHeader(headers: IncomingHttpHeaders): Tags | undefined {
  const text = header(headers, 'x-amz-tagging');
  if (text === undefined || text === '') return undefined;
  const tags = parseTaggingHeader(text);
  return Object.keys(tags).length === 0 ? undefined : tags;
}

/**
 * Reads the tags of a new object from the header, and requires the permission to set them.
 *
 * @throws S3Error AccessDenied, InvalidArgument, InvalidTag, BadRequest
 */
export async function tagsOfNew(call: S3Call): Promise<Tags | undefined> {
  const tags = taggingHeader(call.request.headers);
  if (tags !== undefined) await call.require(putActions.action, `${call.bucket}/${call.key}`);
  return tags;
}

/**
 * Returns the tags of a copy: those of its source or, with the directive REPLACE, those of the header. A caller who copies tags needs the
 * permissions to read and to set them.
 *
 * @throws S3Error AccessDenied, InvalidArgument, InvalidTag, BadRequest
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html
 */
export async function tagsOfCopy(
  call: S3Call,
  source: CopySource,
): Promise<{ readonly tags: Tags; readonly replaced: boolean }> {
  const directive = header(call.request.headers, 'x-amz-tagging-directive') ?? 'COPY';
  const given = await tagsOfNew(call);
  if (directive === 'REPLACE') return { tags: given ?? {}, replaced: true };
  if (directive !== 'COPY') throw invalidDirective(directive, 'x-amz-tagging-directive must be COPY or REPLACE.');
  if (given !== undefined) throw invalidDirective(directive, 'x-amz-tagging needs x-amz-tagging-directive: REPLACE.');
  const tags = await tagsOfSource(call, source);
  if (Object.keys(tags).length > 0) {
    await call.requireVersion(readTagsActions, `${source.bucket}/${source.key}`, source.versionId);
    await call.require(putActions.action, `${call.bucket}/${call.key}`, requestTagContext(tags));
  }
  return { tags, replaced: false };
}

/** A source that is absent has no tags: the copy answers why. */
async function tagsOfSource({ objects }: S3Call, { bucket, key, versionId }: CopySource): Promise<Tags> {
  try {
    return (await objects.getObjectTags(bucket, key, versionId)).tags;
  } catch (error) {
    if (error instanceof S3Error && error.status < 500) return {};
    throw error;
  }
}

function invalidDirective(value: string, message: string): S3Error {
  return new S3Error('InvalidArgument', message, {
    details: { ArgumentName: 'x-amz-tagging-directive', ArgumentValue: value.slice(0, 100) },
  });
}
