import { child, childrenOf, malformed, readXml, requiredText } from '../xml-reader.ts';
import { element, xmlDocument } from '../xml-writer.ts';

/**
 * The owner of the objects of a bucket, and whether ACLs count. With BucketOwnerEnforced, the default, they do not.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/about-object-ownership.html
 */
const objectOwnerships = ['BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter'] as const;
export type ObjectOwnership = (typeof objectOwnerships)[number];

/** Bytes. */
export const maxOwnershipDocument = 4 * 1_024;

/** Returns undefined for a text that is none. */
export function parseOwnership(text: string): ObjectOwnership | undefined {
  return objectOwnerships.find((one) => one === text);
}

/**
 * Reads OwnershipControls, which have one rule.
 *
 * @throws S3Error MalformedXML
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketOwnershipControls.html
 */
export function parseOwnershipControls(body: string | Buffer): ObjectOwnership {
  const root = readXml(body, { maxBytes: maxOwnershipDocument, maxElements: 20, root: 'OwnershipControls' });
  const rule = child(root, 'Rule');
  if (rule === undefined || root.children.length !== 1) throw malformed('"OwnershipControls" has one "Rule"');
  if (childrenOf(rule, 'ObjectOwnership').length !== rule.children.length) {
    throw malformed('"Rule" has one "ObjectOwnership"');
  }
  const ownership = parseOwnership(requiredText(rule, 'ObjectOwnership').trim());
  if (ownership !== undefined) return ownership;
  throw malformed(`"ObjectOwnership" is one of ${objectOwnerships.join(', ')}`);
}

/** Writes the document that GetBucketOwnershipControls answers. */
export function writeOwnershipControls(ownership: ObjectOwnership): string {
  return xmlDocument('OwnershipControls', [element('Rule', [element('ObjectOwnership', ownership)])]);
}
