import { put } from '../support/objects/test-layer.ts';
import type { ObjectInfo, ObjectLayer, RequestedEncryption } from '../../server/objects/contract/object-layer.ts';

const bytesOf = (text: string) => Buffer.from(text).toString('latin1');

/** An object that has everything which a copy may lose. */
export const wholeHeaders = {
  contentType: 'text/html; charset=utf-8',
  contentEncoding: 'x-own',
  contentDisposition: 'inline; filename="a b.html"',
  contentLanguage: 'de, en',
  cacheControl: 'max-age=60',
  expires: 'Wed, 21 Oct 2065 07:28:00 GMT',
  storageClass: 'REDUCED_REDUNDANCY',
  websiteRedirect: '/other/page',
  metadata: {
    colour: 'blue',
    empty: '',
    text: bytesOf('Grüße für 5 € 日本'),
    word: '=?UTF-8?B?YQ==?=',
    blanks: ' a ',
  },
} as const;

export const wholeTags = { team: 'red', 'what for': 'a+b=c' } as const;

/** Milliseconds of a header are kept too. */
export const wholeLock = {
  retention: { mode: 'GOVERNANCE', until: new Date(Date.now() + 5 * 86_400_000) },
  legalHold: true,
} as const;

export const encryptions: Readonly<Record<'none' | 'SSE-S3' | 'SSE-KMS', RequestedEncryption | undefined>> = {
  none: undefined,
  'SSE-S3': { scheme: 'SSE-S3' },
  'SSE-KMS': { scheme: 'SSE-KMS', keyName: 'own-key', context: { case: 'one' } },
};

export type EncryptionName = keyof typeof encryptions;

export function putWhole(
  layer: Pick<ObjectLayer, 'putObject'>,
  bucket: string,
  key: string,
  { encryption, locked }: { readonly encryption: EncryptionName; readonly locked: boolean },
): Promise<ObjectInfo> {
  const requested = encryptions[encryption];
  return layer.putObject(
    put(bucket, key, 'content', {
      headers: wholeHeaders,
      tags: wholeTags,
      digests: { compute: 'SHA256' },
      ...(requested && { encryption: requested }),
      ...(locked && { lock: wholeLock }),
    }),
  );
}

/** The rows of the table of the guide. */
export const attributeNames = [
  'content headers',
  'Expires',
  'user metadata',
  'tags',
  'website redirect',
  'storage class',
  'encryption',
  'checksum algorithm',
  'retention',
  'legal hold',
] as const;

export type AttributeName = (typeof attributeNames)[number];

/** The attributes of an object, by the rows of the table. Two copies are equal where these are. */
export function attributesByName(info: ObjectInfo): Readonly<Record<AttributeName, unknown>> {
  const { contentType, contentEncoding, contentDisposition, contentLanguage, cacheControl } = info;
  const { expires, metadata, tags, websiteRedirect, storageClass, encryption, checksum, lock } = info;
  return {
    'content headers': { contentType, contentEncoding, contentDisposition, contentLanguage, cacheControl },
    Expires: expires,
    'user metadata': metadata,
    tags,
    'website redirect': websiteRedirect,
    'storage class': storageClass,
    encryption,
    'checksum algorithm': checksum?.algorithm,
    retention: lock?.retention,
    'legal hold': lock?.legalHold,
  };
}
