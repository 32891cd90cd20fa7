import { readPlainObjectList } from './plain-object-list.ts';
import type { S3Error } from './s3-error.ts';
import { checksumAlgorithms } from './checksum-algorithms.ts';
import type { CompletedPart } from './completed-part.ts';
import { readXml, child, childrenOf, requiredText, textOf, malformed, type XmlNode } from './xml-reader.ts';
import { element, xmlDocument, xmlSentence } from './xml-writer.ts';

/** Writes the XML response of an error. `more` are elements after the error's own. */
export function writeErrorDocument(
  error: S3Error,
  more: Readonly<Record<string, string>>,
  request: { readonly resource: string; readonly requestId: string; readonly hostId?: string },
): string {
  return xmlDocument(
    'Error',
    [
      element('Code', error.wireCode),
      element('Message', [xmlSentence(error.message)]),
      ...Object.entries({ ...more, ...error.details }).map(([name, value]) => element(name, value)),
      element('Resource', request.resource),
      element('RequestId', request.requestId),
      request.hostId === undefined ? undefined : element('HostId', request.hostId),
    ],
    '',
  );
}

/** The fields of an error response, from any server. */
interface ErrorDocument {
  readonly code: string;
  readonly message: string;
  /** All elements by name, including Code and Message. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Returns undefined if the body is not an error document. Proxies answer with pages of their own. */
export function readErrorDocument(body: string | Buffer): ErrorDocument | undefined {
  try {
    const root = readXml(body, { maxBytes: 65_536 });
    // STS puts the error into another element.
    const error = root.name === 'ErrorResponse' ? root.children.find(({ name }) => name === 'Error') : root;
    if (error?.name !== 'Error') return undefined;
    const fields = Object.fromEntries(error.children.map(({ name, text }) => [name, text]));
    return { code: fields['Code'] ?? '', message: fields['Message'] ?? '', fields };
  } catch {
    return undefined;
  }
}

/** Bytes. A page of 1,000 keys of 1,024 bytes stays below this limit, even if each character is escaped. */
const maxBytes = 16 * 1_024 * 1_024;

export interface BucketEntry {
  readonly name: string;
  readonly created: Date;
}

export interface ObjectEntry {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  readonly lastModified: Date;
  readonly storageClass: string;
}

interface ObjectPage {
  readonly objects: readonly ObjectEntry[];
  readonly commonPrefixes: readonly string[];
  /** Set if another page follows. */
  readonly continuationToken?: string;
}

interface UploadPage {
  readonly uploads: readonly { readonly key: string; readonly uploadId: string; readonly initiated: Date }[];
  readonly commonPrefixes: readonly string[];
  readonly next?: { readonly keyMarker: string; readonly uploadIdMarker: string };
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html */
export function readListBuckets(body: string | Buffer): readonly BucketEntry[] {
  const buckets = child(readXml(body, { maxBytes, root: 'ListAllMyBucketsResult' }), 'Buckets');
  return (buckets?.children ?? []).map((bucket) => ({
    name: requiredText(bucket, 'Name'),
    created: readDate(textOf(bucket, 'CreationDate')),
  }));
}

/**
 * Reads a page of ListObjectsV2. Keys are percent-encoded if the response says `EncodingType` url.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
 */
export function readListObjects(body: string | Buffer): ObjectPage {
  return readPlainPage(body) ?? readAnyPage(readXml(body, { maxBytes, root: 'ListBucketResult' }));
}

/** Reads a page in the form in which servers write it, in half the time of a page in any other form. */
function readPlainPage(body: string | Buffer): ObjectPage | undefined {
  const plain = typeof body === 'string' && body.length < maxBytes ? readPlainObjectList(body) : undefined;
  if (plain === undefined) return undefined;
  const { fields } = plain;
  const name = keyDecoder(fields.get('EncodingType'));
  return {
    objects: plain.objects.map(({ key, size, etag, lastModified, storageClass }) => ({
      key: name(key),
      size: Number(size ?? 0),
      etag: withoutQuotes(etag),
      lastModified: readDate(lastModified),
      storageClass: storageClass ?? 'STANDARD',
    })),
    commonPrefixes: plain.commonPrefixes.map((prefix) => name(prefix)),
    ...nextPage(fields.get('IsTruncated'), fields.get('NextContinuationToken')),
  };
}

function readAnyPage(root: XmlNode): ObjectPage {
  const name = nameReader(root);
  return {
    objects: childrenOf(root, 'Contents').map((object) => ({
      key: name(requiredText(object, 'Key')),
      size: Number(textOf(object, 'Size') ?? 0),
      etag: withoutQuotes(textOf(object, 'ETag')),
      lastModified: readDate(textOf(object, 'LastModified')),
      storageClass: textOf(object, 'StorageClass') ?? 'STANDARD',
    })),
    commonPrefixes: readCommonPrefixes(root, name),
    ...nextPage(textOf(root, 'IsTruncated'), textOf(root, 'NextContinuationToken')),
  };
}

function withoutQuotes(etag: string | undefined): string {
  return (etag ?? '').replaceAll('"', '');
}

function nextPage(isTruncated: string | undefined, token: string | undefined): { continuationToken?: string } {
  if (isTruncated?.trim() !== 'true') return {};
  if (token === undefined || token === '') throw malformed('a truncated listing has no NextContinuationToken');
  return { continuationToken: token };
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html */
export function readListUploads(body: string | Buffer): UploadPage {
  const root = readXml(body, { maxBytes, root: 'ListMultipartUploadsResult' });
  const name = nameReader(root);
  const truncated = textOf(root, 'IsTruncated')?.trim() === 'true';
  return {
    uploads: childrenOf(root, 'Upload').map((upload) => ({
      key: name(requiredText(upload, 'Key')),
      uploadId: requiredText(upload, 'UploadId'),
      initiated: readDate(textOf(upload, 'Initiated')),
    })),
    commonPrefixes: readCommonPrefixes(root, name),
    ...(truncated
      ? {
          next: {
            keyMarker: name(requiredText(root, 'NextKeyMarker')),
            uploadIdMarker: textOf(root, 'NextUploadIdMarker') ?? '',
          },
        }
      : {}),
  };
}

/** The parts of an upload that arrived, in the order of their numbers. */
interface PartPage {
  readonly parts: readonly { readonly partNumber: number; readonly size: number; readonly etag: string }[];
  /** The number after which the next page begins. */
  readonly next?: string;
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListParts.html */
export function readListParts(body: string | Buffer): PartPage {
  const root = readXml(body, { maxBytes, root: 'ListPartsResult' });
  const truncated = textOf(root, 'IsTruncated')?.trim() === 'true';
  return {
    parts: childrenOf(root, 'Part').map((part) => ({
      partNumber: Number(requiredText(part, 'PartNumber')),
      size: Number(textOf(part, 'Size') ?? 0),
      etag: requiredText(part, 'ETag').trim().replaceAll('"', ''),
    })),
    ...(truncated && { next: requiredText(root, 'NextPartNumberMarker') }),
  };
}

export function readInitiatedUpload(body: string | Buffer): string {
  return requiredText(readXml(body, { maxBytes, root: 'InitiateMultipartUploadResult' }), 'UploadId');
}

/** Reads the ETag of a completed upload. A response of status 200 can still be an error; this function then throws MalformedXML. */
export function readCompletedUpload(body: string | Buffer): string {
  return requiredText(readXml(body, { maxBytes, root: 'CompleteMultipartUploadResult' }), 'ETag').replaceAll('"', '');
}

/** Reads the ETag of CopyObject and UploadPartCopy, and the checksum that the server computed. */
export function readCopyResult(body: string | Buffer): Pick<CompletedPart, 'etag' | 'checksum'> {
  const root = readXml(body, { maxBytes });
  const [checksum] = checksumAlgorithms.flatMap((algorithm) => {
    const value = textOf(root, `Checksum${algorithm}`)?.trim();
    return value === undefined ? [] : [{ algorithm, value }];
  });
  return { etag: requiredText(root, 'ETag').replaceAll('"', ''), ...(checksum && { checksum }) };
}

/** The result of DeleteObjects for one object. */
export interface DeletedObject {
  readonly key: string;
  /** The version that the request named. */
  readonly versionId?: string;
  /** Set if the request added a delete marker, or removed one. */
  readonly deleteMarker?: { readonly versionId: string };
}

export interface DeleteFailure {
  readonly key: string;
  readonly versionId?: string;
  readonly code: string;
  readonly message: string;
}

/**
 * Reads what DeleteObjects deleted and what not, each list in the order of the response.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
 */
export function readDeleteResult(body: string | Buffer): {
  readonly deleted: readonly DeletedObject[];
  readonly failures: readonly DeleteFailure[];
} {
  const root = readXml(body, { maxBytes, root: 'DeleteResult' });
  return {
    deleted: childrenOf(root, 'Deleted').map((object) => ({
      ...readVersionRef(object),
      ...(textOf(object, 'DeleteMarker')?.trim() === 'true' && {
        deleteMarker: { versionId: textOf(object, 'DeleteMarkerVersionId') ?? '' },
      }),
    })),
    failures: childrenOf(root, 'Error').map((failure) => ({
      ...readVersionRef(failure),
      code: textOf(failure, 'Code') ?? '',
      message: textOf(failure, 'Message') ?? '',
    })),
  };
}

function readVersionRef(node: XmlNode): { readonly key: string; readonly versionId?: string } {
  const versionId = textOf(node, 'VersionId') ?? '';
  return { key: requiredText(node, 'Key'), ...(versionId !== '' && { versionId }) };
}

/** A version of an object, or a delete marker, whose size is 0 and whose ETag is empty. */
export interface VersionEntry extends ObjectEntry {
  readonly versionId: string;
  readonly latest: boolean;
  readonly deleteMarker: boolean;
}

interface VersionPage {
  /** In the order of the keys; the newest version of a key first. */
  readonly versions: readonly VersionEntry[];
  readonly commonPrefixes: readonly string[];
  readonly next?: { readonly keyMarker: string; readonly versionIdMarker: string };
}

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html */
export function readListVersions(body: string | Buffer): VersionPage {
  const root = readXml(body, { maxBytes, root: 'ListVersionsResult' });
  const name = nameReader(root);
  const truncated = textOf(root, 'IsTruncated')?.trim() === 'true';
  return {
    versions: root.children
      .filter((one) => one.name === 'Version' || one.name === 'DeleteMarker')
      .map((version) => ({
        key: name(requiredText(version, 'Key')),
        versionId: textOf(version, 'VersionId') ?? 'null',
        latest: textOf(version, 'IsLatest')?.trim() === 'true',
        deleteMarker: version.name === 'DeleteMarker',
        size: Number(textOf(version, 'Size') ?? 0),
        etag: (textOf(version, 'ETag') ?? '').replaceAll('"', ''),
        lastModified: readDate(textOf(version, 'LastModified')),
        storageClass: textOf(version, 'StorageClass') ?? 'STANDARD',
      })),
    commonPrefixes: readCommonPrefixes(root, name),
    ...(truncated && {
      next: {
        keyMarker: name(requiredText(root, 'NextKeyMarker')),
        versionIdMarker: textOf(root, 'NextVersionIdMarker') ?? '',
      },
    }),
  };
}

function readCommonPrefixes(root: XmlNode, name: (text: string) => string): string[] {
  return childrenOf(root, 'CommonPrefixes').map((prefix) => name(requiredText(prefix, 'Prefix')));
}

/** Returns the decoder of keys. With `encoding-type=url` they are percent-encoded, and a space is `+`. */
function nameReader(root: XmlNode): (text: string) => string {
  return keyDecoder(textOf(root, 'EncodingType'));
}

function keyDecoder(encodingType: string | undefined): (text: string) => string {
  if (encodingType?.trim() !== 'url') return (text) => text;
  return (text) => {
    if (!/[%+]/.test(text)) return text;
    try {
      return decodeURIComponent(text.replaceAll('+', ' '));
    } catch {
      throw malformed(`the key "${text.slice(0, 64)}" is not percent-encoded`);
    }
  };
}

function readDate(text: string | undefined): Date {
  const date = new Date(text?.trim() ?? '');
  return Number.isNaN(date.getTime()) ? new Date(0) : date;
}
