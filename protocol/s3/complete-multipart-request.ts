import { S3Error } from './s3-error.ts';
import { childrenOf, requiredText, textOf } from './xml-fields.ts';
import { malformed, readXml, type XmlNode } from './xml-reader.ts';
import { element, xmlDocument } from './xml-writer.ts';

export interface CompletedPart {
  /** 1 to 10,000, in ascending order. */
  readonly partNumber: number;
  /** Without quotes. */
  readonly etag: string;
  /** Base64, of whichever algorithm the upload has. */
  readonly checksum?: string;
}

export const mostParts = 10_000;
/** Bytes: 10,000 parts with number, ETag, checksum, markup and indentation, at 400 each. */
export const maxCompleteDocument = 4 * 1_024 * 1_024;
const maxElements = 10 * mostParts;
const checksums = ['ChecksumCRC32', 'ChecksumCRC32C', 'ChecksumCRC64NVME', 'ChecksumSHA1', 'ChecksumSHA256'];

/**
 * @throws S3Error MalformedXML, InvalidPartOrder
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html
 */
export function parseCompleteMultipartUpload(body: string | Buffer): readonly CompletedPart[] {
  const parts = childrenOf(
    readXml(body, { maxBytes: maxCompleteDocument, maxElements, root: 'CompleteMultipartUpload' }),
    'Part',
  );
  if (parts.length === 0) throw malformed('"CompleteMultipartUpload" names no "Part"');
  if (parts.length > mostParts) throw malformed(`there are ${parts.length} parts; at most ${mostParts} are allowed`);
  const completed = parts.map(parsePart);
  let before = 0;
  for (const { partNumber } of completed) {
    if (partNumber <= before) {
      throw new S3Error(
        'InvalidPartOrder',
        `The list of parts was not in ascending order: part ${partNumber} comes after part ${before}.`,
      );
    }
    before = partNumber;
  }
  return completed;
}

function parsePart(part: XmlNode): CompletedPart {
  const number = requiredText(part, 'PartNumber').trim();
  const partNumber = /^\d{1,5}$/.test(number) ? Number(number) : 0;
  if (partNumber < 1 || partNumber > mostParts) {
    throw malformed(`the part number "${number.slice(0, 32)}" is not from 1 to ${mostParts}`);
  }
  const etag = requiredText(part, 'ETag').trim().replaceAll('"', '');
  const checksum = checksums
    .map((name) => textOf(part, name)?.trim())
    .find((value) => value !== undefined && value !== '');
  return { partNumber, etag, ...(checksum === undefined ? {} : { checksum }) };
}

export function writeCompleteMultipartUpload(parts: readonly CompletedPart[]): string {
  return xmlDocument(
    'CompleteMultipartUpload',
    parts.map(({ partNumber, etag }) =>
      element('Part', [element('PartNumber', partNumber), element('ETag', `"${etag}"`)]),
    ),
  );
}
