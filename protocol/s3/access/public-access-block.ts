import { checkChildren, malformed, child, readXml, textOf } from '../xml-reader.ts';
import { element, xmlDocument } from '../xml-writer.ts';

/**
 * The public access block of a bucket.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
 */
export interface PublicAccessBlock {
  /** Requests that set a public ACL are refused. */
  readonly blockPublicAcls: boolean;
  /** Grants of ACLs to everyone and to all authenticated users do not count. */
  readonly ignorePublicAcls: boolean;
  /** Requests that set a public policy are refused. */
  readonly blockPublicPolicy: boolean;
  /** A public policy allows nothing to callers without credentials. */
  readonly restrictPublicBuckets: boolean;
}

const names = [
  ['BlockPublicAcls', 'blockPublicAcls'],
  ['IgnorePublicAcls', 'ignorePublicAcls'],
  ['BlockPublicPolicy', 'blockPublicPolicy'],
  ['RestrictPublicBuckets', 'restrictPublicBuckets'],
] as const;

/** Bytes. */
export const maxPublicAccessBlock = 4 * 1_024;

/**
 * Reads a PublicAccessBlockConfiguration. A flag that is absent is false.
 *
 * @throws S3Error MalformedXML
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutPublicAccessBlock.html
 */
export function parsePublicAccessBlock(body: string | Buffer): PublicAccessBlock {
  const root = 'PublicAccessBlockConfiguration';
  const document = readXml(body, { maxBytes: maxPublicAccessBlock, maxElements: 20, root });
  checkChildren(
    document,
    names.map(([name]) => name),
  );
  const flags = names.map(([name, field]) => {
    const flag = textOf(document, name)?.trim().toLowerCase() ?? 'false';
    if ((flag !== 'true' && flag !== 'false') || child(document, name)?.children.length) {
      throw malformed(`"${name}" is true or false`);
    }
    return [field, flag === 'true'] as const;
  });
  return Object.fromEntries(flags) as unknown as PublicAccessBlock;
}

/** Writes the document that GetPublicAccessBlock answers. `namespace` is that of S3 by default. */
export function writePublicAccessBlock(block: PublicAccessBlock, namespace?: string): string {
  const flags = names.map(([name, field]) => element(name, block[field]));
  return xmlDocument('PublicAccessBlockConfiguration', flags, namespace);
}
