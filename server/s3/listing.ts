import { isoTime, element, markup, urlEncodeKey, xmlText, type Xml } from '../../protocol/s3/xml-writer.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { ListedObject } from '../objects/contract/object-layer.ts';
import type { S3Call } from './operation.ts';
import { owner } from './owner.ts';
import { integerParameter } from './request.ts';

/** The maximum number of entries of a page. A client may ask for fewer. */
const maxPage = 1_000;
const maxInteger = 2_147_483_647;

const standard = element('StorageClass', 'STANDARD');
const none = xmlText('');
const theOwner = owner('Owner');

/** The form of the keys in an answer: plain, or percent-encoded with `encoding-type=url`. */
export interface KeyEncoding {
  /** The element that names the encoding; undefined for plain keys. */
  readonly element: Xml | undefined;
  encode(key: string): string;
}

export function keyEncoding(call: S3Call): KeyEncoding {
  const encoding = call.query.get('encoding-type');
  if (encoding === undefined || encoding === '') return { element: undefined, encode: (key) => key };
  if (encoding.toLowerCase() === 'url') return { element: element('EncodingType', 'url'), encode: urlEncodeKey };
  throw new S3Error('InvalidArgument', 'Invalid Encoding Method specified in Request.', {
    details: { ArgumentName: 'encoding-type', ArgumentValue: encoding.slice(0, 100) },
  });
}

/** Reads `max-keys`, `max-uploads` or `max-parts`. A value above 1,000 counts as 1,000. */
export function pageSize(call: S3Call, parameter: string): number {
  return Math.min(maxPage, integerParameter(call.query, parameter, { min: 0, max: maxInteger, absent: maxPage }));
}

/** Writes the entries of a listing of objects. The parts that are equal in all entries are made once. */
export function objectElements(
  objects: readonly ListedObject[],
  options: {
    readonly name: string;
    readonly encoding: KeyEncoding;
    readonly owner: boolean;
    /** The further elements of an object. */
    readonly more?: ReadonlyMap<ListedObject, readonly Xml[]> | undefined;
  },
): readonly Xml[] {
  const { name, encoding, more } = options;
  return objects.map((object) => {
    const { key, size, etag, modified, checksum, storageClass } = object;
    const shown = [
      markup`<Key>${xmlText(encoding.encode(key))}</Key><LastModified>${isoTime(modified)}</LastModified><ETag>&quot;${xmlText(etag)}&quot;</ETag>`,
      checksum && checksumMarkup(checksum),
      markup`<Size>${size}</Size>${options.owner ? ownerElement(object.owner) : none}`,
      storageClassElement(storageClass),
    ];
    const added = more?.get(object);
    return element(name, added === undefined ? shown : [...shown, ...added]);
  });
}

/** Writes the owner of a listed object. Most belong to the owner of the bucket. */
export function ownerElement(id: string | undefined): Xml {
  return id === undefined ? theOwner : owner('Owner', id);
}

export function storageClassElement(storageClass: string | undefined): Xml {
  return storageClass === undefined ? standard : element('StorageClass', storageClass);
}

export function checksumMarkup({ algorithm, type }: NonNullable<ListedObject['checksum']>): Xml {
  return markup`<ChecksumAlgorithm>${xmlText(algorithm)}</ChecksumAlgorithm><ChecksumType>${xmlText(type)}</ChecksumType>`;
}

export function commonPrefixes(prefixes: readonly string[], encoding: KeyEncoding): readonly Xml[] {
  return prefixes.map((prefix) => element('CommonPrefixes', [element('Prefix', encoding.encode(prefix))]));
}

/** Writes an element with an encoded key; undefined if the key is empty. */
export function keyElement(name: string, key: string | undefined, encoding: KeyEncoding): Xml | undefined {
  return key === undefined || key === '' ? undefined : element(name, encoding.encode(key));
}
