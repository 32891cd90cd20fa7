import { childrenOf, requiredText, textOf } from './xml-fields.ts';
import { malformed, readXml } from './xml-reader.ts';
import { element, xmlDocument } from './xml-writer.ts';

export interface DeleteObjectsRequest {
  readonly quiet: boolean;
  /** 1 to 1,000; keys are not checked here, since a bad one is an error of its own in the answer. */
  readonly objects: readonly { readonly key: string; readonly versionId?: string }[];
}

export const mostDeletedObjects = 1_000;

/** Bytes: 1,000 keys of 1,024 bytes with versions, conditions and markup. */
export const maxDeleteDocument = 2 * 1_024 * 1_024;
/** An object has at most Key, VersionId, ETag, LastModifiedTime and Size. */
const maxElements = 8 * mostDeletedObjects;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html */
export function parseDeleteObjects(body: string | Buffer): DeleteObjectsRequest {
  const root = readXml(body, { maxBytes: maxDeleteDocument, maxElements, root: 'Delete' });
  const objects = childrenOf(root, 'Object').map((object) => {
    const versionId = textOf(object, 'VersionId');
    return { key: requiredText(object, 'Key'), ...(versionId === undefined || versionId === '' ? {} : { versionId }) };
  });
  if (objects.length === 0) throw malformed('"Delete" names no "Object"');
  if (objects.length > mostDeletedObjects) {
    throw malformed(`"Delete" names ${objects.length} objects; at most ${mostDeletedObjects} are allowed`);
  }
  return { quiet: textOf(root, 'Quiet')?.trim().toLowerCase() === 'true', objects };
}

export function writeDeleteObjects(request: DeleteObjectsRequest): string {
  return xmlDocument('Delete', [
    request.quiet ? element('Quiet', true) : undefined,
    ...request.objects.map(({ key, versionId }) =>
      element('Object', [element('Key', key), versionId === undefined ? undefined : element('VersionId', versionId)]),
    ),
  ]);
}
