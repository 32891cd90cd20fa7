import { S3Error } from '../s3-error.ts';
import { daysOf } from './lifecycle-elements.ts';
import { checkChildren, child, malformed, readXml, textOf } from '../xml-reader.ts';

/** Bytes of the document. */
export const maxRestoreDocument = 64 * 1_024;

/**
 * Reads a RestoreRequest. Returns the count of days for which the copy stays. The speed that a client asks for changes nothing, since
 * tiers answer at once.
 *
 * @throws S3Error MalformedXML, InvalidArgument; NotImplemented for a query and for another place
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_RestoreObject.html
 */
export function parseRestoreRequest(body: string | Buffer): number {
  const root = readXml(body, { maxBytes: maxRestoreDocument, root: 'RestoreRequest' });
  const names = ['Days', 'GlacierJobParameters', 'Type', 'Tier', 'Description', 'SelectParameters', 'OutputLocation'];
  checkChildren(root, names);
  for (const name of ['Type', 'SelectParameters', 'OutputLocation']) {
    if (child(root, name) === undefined) continue;
    throw new S3Error('NotImplemented', `"${name}" of a restore request is not implemented.`);
  }
  const parameters = child(root, 'GlacierJobParameters');
  if (parameters !== undefined) checkChildren(parameters, ['Tier']);
  const speed = textOf(parameters ?? root, 'Tier')?.trim();
  if (speed !== undefined && !['Standard', 'Bulk', 'Expedited'].includes(speed)) {
    throw malformed('"Tier" is Standard, Bulk or Expedited');
  }
  const days = daysOf(root, 'Days', 'Restore');
  if (days === undefined) throw malformed('"RestoreRequest" lacks "Days"');
  return days;
}
