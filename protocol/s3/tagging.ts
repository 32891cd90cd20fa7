import { S3Error } from './s3-error.ts';
import { child, childrenOf, requiredText, malformed, readXml } from './xml-reader.ts';
import { element, xmlDocument } from './xml-writer.ts';

/** Values by key. */
export type Tags = Readonly<Record<string, string>>;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/CostAllocTagging.html */
export const bucketTagLimits = { tags: 50, key: 128, value: 256 } as const;

/** Bytes. 50 tags of 128 and 256 characters of 4 bytes take 75 KiB without the markup. */
export const maxTaggingDocument = 128 * 1_024;

/**
 * Reads a Tagging document.
 *
 * @throws S3Error MalformedXML, InvalidTag
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketTagging.html
 */
export function parseTagging(body: string | Buffer): Tags {
  const root = readXml(body, { maxBytes: maxTaggingDocument, maxElements: 1_000, root: 'Tagging' });
  const set = child(root, 'TagSet');
  if (set === undefined) throw malformed('"Tagging" lacks "TagSet"');
  const tags = new Map<string, string>();
  for (const tag of childrenOf(set, 'Tag')) {
    const key = requiredText(tag, 'Key');
    if (tags.has(key)) throw invalidTag(`The tag "${key.slice(0, 128)}" is given more than once.`);
    tags.set(key, requiredText(tag, 'Value'));
  }
  checkTags(tags);
  return Object.fromEntries(tags);
}

/** Writes the document that GetBucketTagging answers and PutBucketTagging sends. */
export function writeTagging(tags: Tags): string {
  const set = Object.entries(tags).map(([key, value]) =>
    element('Tag', [element('Key', key), element('Value', value)]),
  );
  return xmlDocument('Tagging', [element('TagSet', set)]);
}

function checkTags(tags: ReadonlyMap<string, string>): void {
  if (tags.size > bucketTagLimits.tags) {
    throw invalidTag(`A bucket has at most ${bucketTagLimits.tags} tags, and ${tags.size} are given.`);
  }
  for (const [key, value] of tags) {
    const shown = JSON.stringify(key.slice(0, bucketTagLimits.key));
    if (key === '' || key.length > bucketTagLimits.key) {
      throw invalidTag(`The key of a tag has 1 to ${bucketTagLimits.key} characters; ${shown} has ${key.length}.`);
    }
    if (value.length > bucketTagLimits.value) {
      throw invalidTag(
        `The value of the tag ${shown} has ${value.length} characters; at most ${bucketTagLimits.value} are allowed.`,
      );
    }
    if (key.toLowerCase().startsWith('aws:')) throw invalidTag(`The tag ${shown} begins with aws:, which is reserved.`);
    if (!allowed.test(key) || !allowed.test(value)) {
      throw invalidTag(`The tag ${shown} holds a character other than letters, digits, spaces and + - = . _ : / @.`);
    }
  }
}

const allowed = /^[\p{L}\p{N}\p{Z}+\-=._:/@]*$/u;

function invalidTag(message: string): S3Error {
  return new S3Error('InvalidTag', message);
}
