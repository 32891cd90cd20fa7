import { S3Error } from './s3-error.ts';
import { percentEncode } from '../uri/percent-encoding.ts';
import { checkChildren, child, childrenOf, requiredText, malformed, readXml, type XmlNode } from './xml-reader.ts';
import { element, xmlDocument, type Xml } from './xml-writer.ts';

/** Values by key. */
export type Tags = Readonly<Record<string, string>>;

/** The kind of resource that the tags belong to. A bucket may have more of them than an object. */
type Tagged = 'bucket' | 'object';

/**
 * The limits of keys and values in units of UTF-16, as S3 counts them.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-tagging.html
 */
export const tagLimits = { bucket: 50, object: 10, key: 128, value: 256 } as const;

/** Bytes. 50 tags of 128 and 256 characters of 4 bytes take 75 KiB without the markup. */
export const maxTaggingDocument = 128 * 1_024;

/**
 * Reads a Tagging document. The tags are in the order of their keys.
 *
 * @throws S3Error MalformedXML, InvalidTag, BadRequest for too many tags of an object
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectTagging.html
 */
export function parseTagging(body: string | Buffer, of: Tagged = 'bucket'): Tags {
  const root = readXml(body, { maxBytes: maxTaggingDocument, maxElements: 1_000, root: 'Tagging' });
  checkChildren(root, ['TagSet']);
  const set = child(root, 'TagSet');
  if (set === undefined) throw malformed('"Tagging" lacks "TagSet"');
  return readTagSet(set, of);
}

/** Reads the elements `Tag` of an element. The tags are in the order of their keys. */
export function readTagSet(set: XmlNode, of: Tagged = 'bucket'): Tags {
  const tags = new Map<string, string>();
  checkChildren(set, [], ['Tag']);
  for (const tag of childrenOf(set, 'Tag')) {
    checkChildren(tag, ['Key', 'Value']);
    const key = requiredText(tag, 'Key');
    if (tags.has(key)) {
      throw invalidTag(`Cannot provide multiple Tags with the same key: ${shown(key)} is given more than once.`, key);
    }
    tags.set(key, requiredText(tag, 'Value'));
  }
  return checkedTags(tags, of);
}

/**
 * Reads the header `x-amz-tagging`: tags in the form of a query, percent-encoded UTF-8. A key without `=` has the empty value.
 *
 * @throws S3Error InvalidArgument for another form, InvalidTag, BadRequest for too many tags
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
 */
export function parseTaggingHeader(text: string): Tags {
  const tags = new Map<string, string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const [name = '', value = '', ...more] = pair.split('=');
    const key = decoded(name);
    if (key === '' || more.length > 0 || tags.has(key)) throw invalidHeader(text);
    tags.set(key, decoded(value));
  }
  return checkedTags(tags, 'object');

  function decoded(part: string): string {
    try {
      return decodeURIComponent(part.replaceAll('+', ' '));
    } catch {
      throw invalidHeader(text);
    }
  }
}

/** The value of the header `x-amz-tagging`. */
export function writeTaggingHeader(tags: Tags): string {
  return Object.entries(tags)
    .map(([key, value]) => `${percentEncode(key)}=${percentEncode(value)}`)
    .join('&');
}

/** Writes the document that GetObjectTagging and GetBucketTagging answer. */
export function writeTagging(tags: Tags): string {
  return xmlDocument('Tagging', [element('TagSet', tagElements(tags))]);
}

const controlNamespace = 'http://awss3control.amazonaws.com/doc/2018-08-20/';

/**
 * Reads the tags that TagResource of S3 Control adds to a bucket.
 *
 * @throws S3Error MalformedXML, InvalidTag, BadRequest
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_control_TagResource.html
 */
export function parseTagResource(body: string | Buffer): Tags {
  const root = readXml(body, { maxBytes: maxTaggingDocument, maxElements: 1_000, root: 'TagResourceRequest' });
  checkChildren(root, ['Tags']);
  const tags = child(root, 'Tags');
  if (tags === undefined) throw malformed('"TagResourceRequest" lacks "Tags"');
  return readTagSet(tags);
}

/** Writes the document that ListTagsForResource of S3 Control answers. */
export function writeResourceTags(tags: Tags): string {
  return xmlDocument('ListTagsForResourceResult', [element('Tags', tagElements(tags))], controlNamespace);
}

/** Returns the tags of a bucket with further ones, which replace those of the same key. Throws BadRequest above the limit. */
export function mergeTags(tags: Tags, added: Tags): Tags {
  return checkedTags(new Map([...Object.entries(tags), ...Object.entries(added)]), 'bucket');
}

function tagElements(tags: Tags): Xml[] {
  return Object.entries(tags).map(([key, value]) => element('Tag', [element('Key', key), element('Value', value)]));
}

function checkedTags(tags: ReadonlyMap<string, string>, of: Tagged): Tags {
  const limit = tagLimits[of];
  if (tags.size > limit) {
    const what = of === 'object' ? 'Object tags' : 'Bucket tag count';
    throw new S3Error('BadRequest', `${what} cannot be greater than ${limit}`);
  }
  for (const [key, value] of tags) checkTag(key, value);
  return Object.fromEntries([...tags].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function checkTag(key: string, value: string): void {
  if (key === '' || key.length > tagLimits.key) {
    throw invalidTag(
      `The TagKey you have provided is invalid: it has 1 to ${tagLimits.key} characters, and ${shown(key)} has ${key.length}.`,
      key,
    );
  }
  if (value.length > tagLimits.value) {
    throw invalidTag(
      `The TagValue you have provided is invalid: that of ${shown(key)} has ${value.length} characters; at most ${tagLimits.value} are allowed.`,
      key,
      value,
    );
  }
  if (key.toLowerCase().startsWith('aws:')) {
    throw invalidTag(
      `The TagKey you have provided is invalid: ${shown(key)} begins with aws:, which is reserved.`,
      key,
    );
  }
  for (const [name, text] of [
    ['TagKey', key],
    ['TagValue', value],
  ] as const) {
    if (allowed.test(text)) continue;
    throw invalidTag(
      `The ${name} you have provided is invalid: the tag ${shown(key)} has a character other than letters, digits, spaces and + - = . _ : / @.`,
      key,
      name === 'TagValue' ? value : undefined,
    );
  }
}

const allowed = /^[\p{L}\p{N}\p{Z}+\-=._:/@]*$/u;

function shown(key: string): string {
  return JSON.stringify(key.slice(0, tagLimits.key));
}

function invalidTag(message: string, key: string, value?: string): S3Error {
  const details = {
    TagKey: key.slice(0, tagLimits.key),
    ...(value !== undefined && { TagValue: value.slice(0, 256) }),
  };
  return new S3Error('InvalidTag', message, { details });
}

function invalidHeader(text: string): S3Error {
  return new S3Error(
    'InvalidArgument',
    "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.",
    { details: { ArgumentName: 'x-amz-tagging', ArgumentValue: text.slice(0, 100) } },
  );
}
