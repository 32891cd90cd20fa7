import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { element, isoTime, type Xml } from '../../../protocol/s3/xml-writer.ts';
import type { ListedObject } from '../../objects/contract/object-layer.ts';
import type { S3Call } from '../operation.ts';
import { header } from '../request.ts';
import { metadataElements } from './listed-metadata.ts';

const attributesHeader = 'x-amz-optional-object-attributes';

/**
 * Reports whether a listing shows the state of restored objects.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html#AmazonS3-ListObjectsV2-request-header-OptionalObjectAttributes
 * @throws S3Error InvalidArgument for other attributes, of which S3 has none
 */
export function asksForRestoreStatus({ request: { headers } }: Pick<S3Call, 'request'>): boolean {
  const given = header(headers, attributesHeader);
  if (given === undefined || given === '') return false;
  const unknown = given.split(',').find((one) => one.trim() !== 'RestoreStatus');
  if (unknown === undefined) return true;
  throw new S3Error('InvalidArgument', 'Invalid attribute name specified.', {
    details: { ArgumentName: attributesHeader, ArgumentValue: given.slice(0, 100) },
  });
}

/** The elements that a listing shows of objects on demand. */
interface WantedElements {
  readonly metadata: boolean;
  readonly restoreStatus: boolean;
}

/** Writes the further elements of the objects. */
export async function furtherElements(
  call: S3Call,
  objects: readonly (ListedObject & { readonly versionId?: string })[],
  { metadata, restoreStatus }: WantedElements,
): Promise<ReadonlyMap<ListedObject, readonly Xml[]> | undefined> {
  const described = metadata ? await metadataElements(call, objects) : undefined;
  if (!restoreStatus) return described;
  return new Map(objects.map((object) => [object, [...restoreElements(object), ...(described?.get(object) ?? [])]]));
}

function restoreElements({ details }: ListedObject): readonly Xml[] {
  const restore = details?.restore;
  if (restore === undefined) return [];
  const expiry = restore.ongoing ? undefined : element('RestoreExpiryDate', isoTime(restore.until.getTime()));
  return [element('RestoreStatus', [element('IsRestoreInProgress', restore.ongoing), expiry])];
}
