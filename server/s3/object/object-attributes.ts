import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { element, xmlDocument, type Xml } from '../../../protocol/s3/xml-writer.ts';
import type { ObjectInfo, ReadOptions } from '../../objects/contract/object-layer.ts';
import { xmlAnswer } from '../answers.ts';
import { customerKeyOf } from '../encryption-headers.ts';
import { formatHttpDate, readConditions } from '../object-headers.ts';
import { type Operation, readActions, type S3Call } from '../operation.ts';
import { checksumElement } from '../request-body.ts';
import { header } from '../request.ts';
import { hideAbsence } from './read-object.ts';

/** The maximum number of parts of an answer. A client may ask for fewer. */
const maxPage = 1_000;
const maxInteger = 2_147_483_647;

type Page = NonNullable<ReadOptions['parts']>;

/** The attributes in the order of the answer. */
const attributes: Readonly<Record<string, (info: ObjectInfo, page: Page) => Xml | undefined>> = {
  ETag: (info) => element('ETag', info.etag),
  Checksum: ({ checksum }) =>
    checksum === undefined
      ? undefined
      : element('Checksum', [
          // Unlike the headers of a read, the document of S3 has a composite checksum without the count of parts.
          element(checksumElement(checksum.algorithm), checksum.value.replace(/-[0-9]+$/, '')),
          element('ChecksumType', checksum.type),
        ]),
  ObjectParts: objectParts,
  StorageClass: (info) => element('StorageClass', info.storageClass ?? 'STANDARD'),
  ObjectSize: (info) => element('ObjectSize', info.size),
};

/** S3 lists the parts of an object with a checksum alone, and only counts those of any other. */
function objectParts({ parts: count, partPage, checksum }: ObjectInfo, { after, limit }: Page): Xml | undefined {
  if (count === undefined) return undefined;
  if (checksum === undefined || partPage === undefined) return element('ObjectParts', [element('PartsCount', count)]);
  const last = partPage.at(-1)?.number ?? after;
  return element('ObjectParts', [
    element('PartsCount', count),
    element('PartNumberMarker', after),
    element('NextPartNumberMarker', last),
    element('MaxParts', limit),
    element('IsTruncated', limit > 0 && last < count),
    ...partPage.map((part) =>
      element('Part', [
        element('PartNumber', part.number),
        element('Size', part.size),
        part.checksum && element(checksumElement(part.checksum.algorithm), part.checksum.value),
      ]),
    ),
  ]);
}

/**
 * The caller needs the permission to read the object too.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectAttributes.html
 */
export const getObjectAttributes: Operation = {
  name: 'GetObjectAttributes',
  action: 's3:GetObjectAttributes',
  versionAction: 's3:GetObjectVersionAttributes',
  async handle(call) {
    const { headers } = call.request;
    const versionId = call.query.get('versionId');
    await call.requireVersion(readActions, `${call.bucket}/${call.key}`, versionId);
    const requested = attributeNames(header(headers, 'x-amz-object-attributes'));
    const page = {
      after: numberOf(call, 'x-amz-part-number-marker', 0),
      limit: Math.min(maxPage, numberOf(call, 'x-amz-max-parts', maxPage)),
    };
    return hideAbsence(call, async () => {
      const info = await call.objects.headObject(call.bucket, call.key, {
        conditions: readConditions(headers),
        customerKey: customerKeyOf(call),
        versionId,
        onlyId: call.grantedObject,
        parts: requested.has('ObjectParts') ? page : undefined,
        accept: undefined,
        access: 'Attributes',
        by: call,
      });
      return xmlAnswer(
        xmlDocument(
          'GetObjectAttributesResponse',
          Object.keys(attributes)
            .filter((name) => requested.has(name))
            .map((name) => attributes[name]?.(info, page)),
        ),
        {
          'last-modified': formatHttpDate(info.lastModified),
          ...(info.versionId !== undefined && { 'x-amz-version-id': info.versionId }),
        },
      );
    });
  },
};

/**
 * Reads the names of attributes. As in S3, commas at the end are let through, and empty names before them are not.
 *
 * @throws S3Error InvalidRequest without a name, InvalidArgument for an unknown or empty one
 */
function attributeNames(text = ','): ReadonlySet<string> {
  const names = (text === '' ? text : text.replace(/[, ]+$/, '')).split(',').map((name) => name.trim());
  if (text !== '' && names.length === 1 && names[0] === '') {
    throw new S3Error(
      'InvalidRequest',
      'The x-amz-object-attributes header specifying the attributes to be retrieved is either missing or empty',
    );
  }
  const unknown = names.find((name) => !Object.hasOwn(attributes, name));
  if (unknown === undefined) return new Set(names);
  throw new S3Error('InvalidArgument', 'Invalid attribute name specified.', {
    details: { ArgumentName: 'x-amz-object-attributes', ArgumentValue: unknown.slice(0, 100) },
  });
}

/** @throws S3Error InvalidArgument unless the header is absent or a whole number */
function numberOf({ request }: S3Call, name: string, absent: number): number {
  const text = header(request.headers, name);
  if (text === undefined) return absent;
  const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= maxInteger) return value;
  throw new S3Error('InvalidArgument', `Argument ${name} must be an integer between 0 and ${maxInteger}`, {
    details: { ArgumentName: name, ArgumentValue: text.slice(0, 100) },
  });
}
