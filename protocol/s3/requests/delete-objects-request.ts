import { checkChildren, childrenOf, requiredText, textOf, malformed, readXml, type XmlNode } from '../xml-reader.ts';
import { element, xmlDocument } from '../xml-writer.ts';

interface DeleteObjectsRequest {
  readonly quiet: boolean;
  /** 1 to 1,000 objects. The parser does not check the keys, because a bad key is an error of its own in the response. */
  readonly objects: readonly ObjectToDelete[];
}

export interface ObjectToDelete {
  readonly key: string;
  readonly versionId?: string;
  /** The conditions under which the object is deleted. */
  readonly conditions?: {
    /** ETags without quotes; `*` matches any. */
    readonly ifMatch: readonly string[] | undefined;
    readonly size: number | undefined;
    readonly lastModified: Date | undefined;
  };
}

const maxDeletedObjects = 1_000;

/** Bytes. 1,000 keys of 1,024 bytes with versions, conditions and markup fit. */
export const maxDeleteDocument = 2 * 1_024 * 1_024;
/** An object has at most Key, VersionId, ETag, LastModifiedTime and Size. */
const maxElements = 8 * maxDeletedObjects;

/**
 * Reads the objects to delete. An unknown element is refused: a client that misspells `VersionId` or `ETag` would delete what it did not name.
 *
 * @throws S3Error MalformedXML
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html
 */
export function parseDeleteObjects(body: string | Buffer): DeleteObjectsRequest {
  const root = readXml(body, { maxBytes: maxDeleteDocument, maxElements, root: 'Delete' });
  checkChildren(root, ['Quiet'], ['Object']);
  const objects = childrenOf(root, 'Object').map((object) => {
    checkChildren(object, ['Key', 'VersionId', 'ETag', 'LastModifiedTime', 'Size']);
    const versionId = textOf(object, 'VersionId');
    const conditions = parseConditions(object);
    return {
      key: requiredText(object, 'Key'),
      ...(versionId === undefined || versionId === '' ? {} : { versionId }),
      ...(conditions && { conditions }),
    };
  });
  if (objects.length === 0) throw malformed('"Delete" names no "Object"');
  if (objects.length > maxDeletedObjects) {
    throw malformed(`"Delete" names ${objects.length} objects; at most ${maxDeletedObjects} are allowed`);
  }
  const quiet = textOf(root, 'Quiet')?.trim().toLowerCase() ?? 'false';
  if (quiet !== 'true' && quiet !== 'false') throw malformed('"Quiet" is true or false');
  return { quiet: quiet === 'true', objects };
}

function parseConditions(object: XmlNode): ObjectToDelete['conditions'] {
  const etag = textOf(object, 'ETag')?.trim();
  const size = textOf(object, 'Size')?.trim();
  const time = textOf(object, 'LastModifiedTime')?.trim();
  if (etag === undefined && size === undefined && time === undefined) return undefined;
  if (size !== undefined && !/^\d{1,15}$/.test(size))
    throw malformed(`the size "${size.slice(0, 32)}" is not a number`);
  const lastModified = time === undefined ? undefined : new Date(time);
  if (lastModified !== undefined && Number.isNaN(lastModified.getTime())) {
    throw malformed(`the time "${time?.slice(0, 64)}" is not a date`);
  }
  return {
    ifMatch: etag === undefined ? undefined : [etag.replace(/^"(.*)"$/, '$1')],
    size: size === undefined ? undefined : Number(size),
    lastModified,
  };
}

export function writeDeleteObjects(request: DeleteObjectsRequest): string {
  return xmlDocument('Delete', [
    request.quiet ? element('Quiet', true) : undefined,
    ...request.objects.map(({ key, versionId }) =>
      element('Object', [element('Key', key), versionId === undefined ? undefined : element('VersionId', versionId)]),
    ),
  ]);
}
