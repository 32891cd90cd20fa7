import type { ListedVersionOfModel, ModelledLayer } from '../support/objects/modelled-layer.ts';
import { type S3RegisterOptions, s3Requests } from '../linearizability/s3-requests.ts';

/** Lists versions. The SDK gives delete markers in a list of their own, which loses the order of the document. */
export function versionLister(options: S3RegisterOptions): {
  readonly list: ModelledLayer['listObjectVersions'];
  readonly close: () => void;
} {
  const { send, close } = s3Requests(options);
  return {
    close,
    async list({ prefix, delimiter, keyMarker, versionIdMarker, limit }) {
      const query = [
        'versions=',
        'encoding-type=url',
        `max-keys=${limit}`,
        ...(prefix === '' ? [] : [`prefix=${encodeURIComponent(prefix)}`]),
        ...(delimiter === '' ? [] : [`delimiter=${encodeURIComponent(delimiter)}`]),
        ...(keyMarker === '' ? [] : [`key-marker=${encodeURIComponent(keyMarker)}`]),
        ...(versionIdMarker === undefined ? [] : [`version-id-marker=${versionIdMarker}`]),
      ].join('&');
      const reply = await send('GET', '', { query });
      if (reply?.status !== 200) throw new Error(`a listing was answered ${reply?.status}: ${String(reply?.body)}`);
      return parseListing(String(reply.body));
    },
  };
}

function parseListing(document: string): Awaited<ReturnType<ModelledLayer['listObjectVersions']>> {
  const versions: ListedVersionOfModel[] = [];
  for (const [, element, content = ''] of document.matchAll(/<(Version|DeleteMarker)>(.*?)<\/\1>/gs)) {
    const field = (name: string) => textOf(content, name) ?? '';
    versions.push({
      key: decoded(field('Key')),
      versionId: field('VersionId'),
      isLatest: field('IsLatest') === 'true',
      deleteMarker: element === 'DeleteMarker',
    });
  }
  const prefixes = document.matchAll(/<CommonPrefixes><Prefix>(.*?)<\/Prefix>/gs);
  const commonPrefixes = Array.from(prefixes, ([, prefix = '']) => decoded(prefix));
  if (textOf(document, 'IsTruncated') !== 'true') return { versions, commonPrefixes };
  const versionId = textOf(document, 'NextVersionIdMarker') ?? '';
  const key = decoded(textOf(document, 'NextKeyMarker') ?? '');
  return { versions, commonPrefixes, next: { key, ...(versionId !== '' && { versionId }) } };
}

function textOf(document: string, element: string): string | undefined {
  return new RegExp(`<${element}>(.*?)</${element}>`, 's').exec(document)?.[1];
}

function decoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}
