import type { CompletedPart } from '../completed-part.ts';
import { checksumAlgorithms } from '../checksum-algorithms.ts';
import { S3Error } from '../s3-error.ts';
import { checkChildren, childrenOf, requiredText, malformed, readXml, type XmlNode } from '../xml-reader.ts';
import { element, xmlDocument } from '../xml-writer.ts';

export const maxParts = 10_000;
/** Bytes. 10,000 parts with number, ETag, checksum, markup and indentation take 400 bytes each. */
export const maxCompleteDocument = 4 * 1_024 * 1_024;
const maxElements = 10 * maxParts;

/**
 * Reads the list of parts. Errors name the upload.
 *
 * @throws S3Error MalformedXML, InvalidArgument, InvalidPartOrder, InvalidRequest
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html
 */
export function parseCompleteMultipartUpload(body: string | Buffer, uploadId = ''): readonly CompletedPart[] {
  // Here an empty body has another code than in other operations.
  if (body.length === 0) throw malformed('the document is empty');
  const root = readXml(body, { maxBytes: maxCompleteDocument, maxElements, root: 'CompleteMultipartUpload' });
  checkChildren(root, [], ['Part']);
  const parts = childrenOf(root, 'Part');
  if (parts.length === 0) throw malformed('"CompleteMultipartUpload" names no "Part"');
  if (parts.length > maxParts) throw malformed(`there are ${parts.length} parts; at most ${maxParts} are allowed`);
  const completed = parts.map(parsePart);
  let before = 0;
  for (const { partNumber } of completed) {
    if (partNumber <= before) {
      throw new S3Error(
        'InvalidPartOrder',
        `The list of parts was not in ascending order. Parts must be ordered by part number: part ${partNumber} comes after part ${before}.`,
        { details: { UploadId: uploadId.slice(0, 100) } },
      );
    }
    before = partNumber;
  }
  return completed;
}

function parsePart(part: XmlNode): CompletedPart {
  const number = requiredText(part, 'PartNumber').trim();
  if (!/^-?\d{1,10}$/.test(number)) throw malformed(`the part number "${number.slice(0, 32)}" is not a whole number`);
  const partNumber = Number(number);
  if (partNumber < 1 || partNumber > maxParts) {
    throw new S3Error('InvalidArgument', `PartNumber must be a whole number from 1 to ${maxParts}, not ${number}.`, {
      details: { ArgumentName: 'PartNumber', ArgumentValue: number },
    });
  }
  const etag = requiredText(part, 'ETag').trim().replaceAll('"', '');
  const checksum = parseChecksum(part, partNumber);
  checkChildren(part, ['PartNumber', 'ETag', ...(checksum === undefined ? [] : [`Checksum${checksum.algorithm}`])]);
  return { partNumber, etag, ...(checksum && { checksum }) };
}

/** Refuses a checksum that this server does not know, and a second one. The client expects that the server compares it. */
function parseChecksum(part: XmlNode, partNumber: number): CompletedPart['checksum'] {
  const given = part.children.filter(({ name }) => name.startsWith('Checksum'));
  const [first] = given;
  if (first === undefined) return undefined;
  const algorithm = checksumAlgorithms.find((known) => `Checksum${known}` === first.name);
  if (algorithm === undefined || given.length > 1) {
    const names = given.map(({ name }) => name.slice(0, 32)).join(', ');
    throw new S3Error(
      'InvalidRequest',
      `Part ${partNumber} comes with ${names}; a part takes one checksum of ${checksumAlgorithms.join(', ')}.`,
    );
  }
  return { algorithm, value: first.text.trim() };
}

export function writeCompleteMultipartUpload(parts: readonly CompletedPart[]): string {
  return xmlDocument(
    'CompleteMultipartUpload',
    parts.map(({ partNumber, etag, checksum }) =>
      element('Part', [
        element('PartNumber', partNumber),
        element('ETag', `"${etag}"`),
        checksum && element(`Checksum${checksum.algorithm}`, checksum.value),
      ]),
    ),
  );
}
