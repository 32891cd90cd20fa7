import type { Tags } from '../s3/tagging.ts';
import { bucketTagKey, existingTagKey, requestTagKey } from './known-names.ts';

type Context = Readonly<Record<string, readonly string[]>>;

/**
 * Returns the tags of the object of a request as condition keys `s3:ExistingObjectTag/…`. Condition keys do not depend on case: the values
 * of tags that differ only in case are values of one key, so that a second tag cannot hide the first from a Deny.
 */
export function existingTagContext(tags: Tags): Context {
  return tagContext(existingTagKey, tags);
}

/** Returns the tags of the bucket of a request as condition keys `s3:BucketTag/…`. */
export function bucketTagContext(tags: Tags): Context {
  return tagContext(bucketTagKey, tags);
}

/**
 * Returns the tags that a request sends as condition keys `s3:RequestObjectTag/…` and `s3:RequestObjectTagKeys`.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/tagging-and-policies.html
 */
export function requestTagContext(tags: Tags): Context {
  const keys = Object.keys(tags);
  return keys.length === 0 ? {} : { ...tagContext(requestTagKey, tags), 's3:RequestObjectTagKeys': keys };
}

function tagContext(prefix: string, tags: Tags): Context {
  const context: Record<string, string[]> = {};
  for (const [key, value] of Object.entries(tags)) {
    // In lower case, because the lower case of some letters is longer.
    (context[`${prefix}${key}`.toLowerCase()] ??= []).push(value);
  }
  return context;
}
