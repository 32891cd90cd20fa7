import { textAt, withText, writeEdited } from '../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';

export const blockFields = [
  'BlockPublicAcls',
  'IgnorePublicAcls',
  'BlockPublicPolicy',
  'RestrictPublicBuckets',
] as const;
export type PublicBlock = Readonly<Record<(typeof blockFields)[number], boolean>>;

/** Reads an element `PublicAccessBlockConfiguration`. */
export function publicBlockOf(root: XmlNode): PublicBlock {
  const is = (field: string) => textAt(root, [field]) === 'true';
  return {
    BlockPublicAcls: is('BlockPublicAcls'),
    IgnorePublicAcls: is('IgnorePublicAcls'),
    BlockPublicPolicy: is('BlockPublicPolicy'),
    RestrictPublicBuckets: is('RestrictPublicBuckets'),
  };
}

/** The document of PutPublicAccessBlock: that which was read, with the changed fields. Undefined: it blocks nothing any more. */
export function publicBlockDocument(root: XmlNode, change: Partial<PublicBlock>): string | undefined {
  const next = blockFields.reduce((written, field) => {
    const on = change[field];
    return on === undefined ? written : withText(written, [field], String(on));
  }, root);
  return Object.values(publicBlockOf(next)).some(Boolean) ? writeEdited(next) : undefined;
}
