import { hideAbsence } from './read-object.ts';
import { checkObjectKey } from '../../../protocol/s3/names.ts';
import { requestTagContext } from '../../../protocol/policy/tag-context.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Tags } from '../../../protocol/s3/tagging.ts';
import { emptyAnswer } from '../answers.ts';
import { readConditions, createConditions } from '../object-headers.ts';
import { type Operation, readActions, readTagsActions, type S3Call } from '../operation.ts';
import { header } from '../request.ts';
import { deleteActions } from './force-delete.ts';

const name = 'x-amz-rename-source';

/**
 * AWS has it in directory buckets; here all buckets without versions have it.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_RenameObject.html
 */
export const renameObject: Operation = {
  name: 'RenameObject',
  action: 's3:PutObject',
  createsObject: true,
  async handle(call) {
    const { headers } = call.request;
    const from = renameSource(header(headers, name));
    const toConditions = { ...readConditions(headers), ...createConditions(headers) };
    const clientToken = clientTokenOf(header(headers, 'x-amz-client-token'));
    const source = `${call.bucket}/${from}`;
    // A caller who may not read the object could rename it to a key that it may read.
    const readable = await call.requireVersion(readActions, source, undefined);
    const removable = await call.requireVersion(deleteActions, source, undefined);
    const request = {
      bucket: call.bucket,
      from,
      to: call.key,
      fromConditions: readConditions(headers, `${name}-`),
      toConditions,
      onlyIds: [readable, removable],
      onlyTargetId: call.grantedObject,
      by: call,
      clientToken,
      allowTags: (tags: Tags) => requireTags(call, source, tags),
    };
    await hideAbsence(call, () => call.objects.renameObject(request));
    return emptyAnswer(200);
  },
};

/** Requires what a copy with the tags of its source needs. */
async function requireTags(call: S3Call, source: string, tags: Tags): Promise<void> {
  if (Object.keys(tags).length === 0) return;
  await call.requireVersion(readTagsActions, source, undefined);
  await call.require('s3:PutObjectTagging', `${call.bucket}/${call.key}`, requestTagContext(tags));
}

/**
 * Parses `x-amz-rename-source: [/]key`, which is percent-encoded. A slash at the begin is not a part of the key.
 *
 * @throws S3Error InvalidArgument, KeyTooLongError
 */
function renameSource(text: string | undefined): string {
  if (text === undefined) throw invalid('is required');
  if (text.includes('?')) throw invalid('must be percent-encoded');
  let key;
  try {
    key = decodeURIComponent(text).replace(/^\//, '');
  } catch {
    throw invalid('is not valid percent-encoded UTF-8');
  }
  if (key === '') throw invalid('must be the key of an object in the same bucket');
  checkObjectKey(key);
  return key;
}

/** Reads up to 64 visible ASCII characters. */
function clientTokenOf(token: string | undefined): string | undefined {
  if (token === undefined || /^[!-~]{1,64}$/.test(token)) return token;
  throw new S3Error('InvalidArgument', 'x-amz-client-token must have 1 to 64 visible ASCII characters.', {
    details: { ArgumentName: 'x-amz-client-token' },
  });
}

function invalid(issue: string): S3Error {
  return new S3Error('InvalidArgument', `${name} ${issue}.`, { details: { ArgumentName: name } });
}
