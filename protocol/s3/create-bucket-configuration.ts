import { S3Error } from './s3-error.ts';
import { textOf } from './xml-fields.ts';
import { readXml } from './xml-reader.ts';

/** The location that a CreateBucket body asks for; '' when it names none (or the body is empty). Throws NotImplemented for all else. */
export function parseCreateBucketConfiguration(body: string | Buffer): { readonly location: string } {
  if (body.length === 0) return { location: '' };
  const root = readXml(body, { maxBytes: 65_536, root: 'CreateBucketConfiguration' });
  const other = root.children.find(({ name }) => name !== 'LocationConstraint');
  if (other !== undefined) {
    throw new S3Error(
      'NotImplemented',
      `"${other.name.slice(0, 100)}" of CreateBucketConfiguration is not implemented.`,
    );
  }
  return { location: textOf(root, 'LocationConstraint')?.trim() ?? '' };
}
