import type { ObjectInfo } from '../../objects/contract/object-layer.ts';

/** The headers that conditions may name: the standard ones, and user metadata with its prefix. */
export function conditionHeaders(info: ObjectInfo): Record<string, string> {
  const standard = {
    'content-type': info.contentType,
    'content-encoding': info.contentEncoding,
    'content-disposition': info.contentDisposition,
    'content-language': info.contentLanguage,
    'cache-control': info.cacheControl,
    expires: info.expires,
    'x-amz-storage-class': info.storageClass,
  };
  const own = Object.entries(info.metadata).map(([name, value]) => [`x-amz-meta-${name}`, value] as const);
  return Object.fromEntries([
    ...Object.entries(standard).filter((one): one is [string, string] => one[1] !== undefined),
    ...own,
  ]);
}
