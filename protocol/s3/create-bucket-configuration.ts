import { textOf } from './xml-fields.ts';
import { readXml } from './xml-reader.ts';

/** The location that a CreateBucket body asks for; '' when it names none (or the body is empty). */
export function parseCreateBucketConfiguration(body: string | Buffer): { readonly location: string } {
  if (body.length === 0) return { location: '' };
  const root = readXml(body, { maxBytes: 65_536, root: 'CreateBucketConfiguration' });
  return { location: textOf(root, 'LocationConstraint')?.trim() ?? '' };
}
