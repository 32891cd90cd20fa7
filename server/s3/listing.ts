import { S3Error } from '../../protocol/s3/s3-error.ts';
import { element, urlEncodeKey, xmlText } from '../../protocol/s3/xml-writer.ts';
import type { Xml } from '../../protocol/s3/xml-writer.ts';
import type { ObjectInfo } from '../objects/object-layer.ts';
import type { S3Call } from './operation.ts';
import { owner } from './owner.ts';
import { integerParameter } from './query.ts';

/** Entries of one page, which a client may lower. */
const maxPage = 1_000;
const maxInteger = 2_147_483_647;

const standard = element('StorageClass', 'STANDARD');
/** Escaped once for all entries. */
const quote = xmlText('"');

/** Keys of answers as the client wants them: plain, or percent-encoded with `encoding-type=url`. */
export interface KeyEncoding {
  /** The element that tells the encoding; undefined for plain. */
  readonly told: Xml | undefined;
  encode(key: string): string;
}

export function keyEncoding(call: S3Call): KeyEncoding {
  const asked = call.query.get('encoding-type');
  if (asked === undefined || asked === '') return { told: undefined, encode: (key) => key };
  if (asked.toLowerCase() === 'url') return { told: element('EncodingType', 'url'), encode: urlEncodeKey };
  throw new S3Error('InvalidArgument', 'Invalid Encoding Method specified in Request.', {
    details: { ArgumentName: 'encoding-type', ArgumentValue: asked.slice(0, 100) },
  });
}

/** `max-keys`, `max-uploads` or `max-parts`: more than 1,000 counts as 1,000. */
export function pageSize(call: S3Call, parameter: string): number {
  return Math.min(maxPage, integerParameter(call.query, parameter, { min: 0, max: maxInteger, absent: maxPage }));
}

/** An entry of a listing of objects or, with `version`, of versions. */
export function objectElement(
  info: ObjectInfo,
  options: {
    readonly name: string;
    readonly encoding: KeyEncoding;
    readonly owner: boolean;
    readonly version?: boolean;
  },
): Xml {
  const version = options.version === true;
  return element(options.name, [
    element('Key', options.encoding.encode(info.key)),
    version ? element('VersionId', 'null') : undefined,
    version ? element('IsLatest', 'true') : undefined,
    element('LastModified', info.lastModified),
    element('ETag', [quote, xmlText(info.etag), quote]),
    info.checksum === undefined ? undefined : element('ChecksumAlgorithm', info.checksum.algorithm),
    info.checksum === undefined ? undefined : element('ChecksumType', info.checksum.type),
    element('Size', info.size),
    options.owner ? owner('Owner') : undefined,
    info.storageClass === undefined ? standard : element('StorageClass', info.storageClass),
  ]);
}

export function commonPrefixes(prefixes: readonly string[], encoding: KeyEncoding): readonly Xml[] {
  return prefixes.map((prefix) => element('CommonPrefixes', [element('Prefix', encoding.encode(prefix))]));
}

/** The element, with an encoded key; undefined where the key is empty. */
export function keyElement(name: string, key: string | undefined, encoding: KeyEncoding): Xml | undefined {
  return key === undefined || key === '' ? undefined : element(name, encoding.encode(key));
}
