import { S3Error } from '../../protocol/s3/s3-error.ts';
import { parseTagging } from '../../protocol/s3/tagging.ts';
import type { BatchVersion, Transfer } from '../maintenance/batch/batch-remote.ts';
import { bodyFrom } from '../objects/bodies/body-source.ts';
import type { ObjectHeaders, ObjectInfo, ObjectLayer, RequestedEncryption } from '../objects/object-layer.ts';
import { isSameContent } from './same-content.ts';
import { checkAnswer, type TargetClient } from './target-client.ts';

interface Fetcher {
  readonly objects: Pick<ObjectLayer, 'headObject' | 'putObject' | 'deleteObject' | 'getBucketEncryption'>;
  readonly client: Pick<TargetClient, 'send' | 'open'>;
  /** The bucket of this server. */
  readonly bucket: string;
}

interface FetchedVersion extends BatchVersion {
  readonly targetKey: string;
  /** The id that the version keeps. Without it, it is a new version here. */
  readonly keptId?: string;
}

/** Copies a version of another server to this one, unless it is here. */
export async function fetchVersion(fetcher: Fetcher, version: FetchedVersion): Promise<Transfer> {
  const { objects, bucket } = fetcher;
  const { targetKey, keptId, deleteMarker } = version;
  const here = await readHere(objects, bucket, version);
  if (deleteMarker) {
    // A marker without its id would come again with each repetition.
    if (keptId === undefined || here === 'marker') return 'same';
    const marker = { versionId: keptId, modified: new Date(version.modified) };
    await objects.deleteObject(bucket, targetKey, { replica: { marker } });
    return 'changed';
  }
  const own = typeof here === 'object' ? here : undefined;
  if (own !== undefined && (keptId !== undefined || isSameContent(ofSource(version, false), ofInfo(own))))
    return 'same';
  return copyVersion(fetcher, version, own);
}

/** Reads what this server has in the place of the version. */
async function readHere(
  objects: Fetcher['objects'],
  bucket: string,
  { targetKey, keptId }: FetchedVersion,
): Promise<ObjectInfo | 'marker' | undefined> {
  try {
    return await objects.headObject(bucket, targetKey, keptId === undefined ? {} : { versionId: keptId });
  } catch (error) {
    if (!(error instanceof S3Error) || error.status >= 500) throw error;
    return error.code === 'MethodNotAllowed' ? 'marker' : undefined;
  }
}

function ofSource({ etag, size, modified }: BatchVersion, hasRandomEtag: boolean) {
  return { etag, size, modified, hasRandomEtag };
}

function ofInfo({ etag, size, lastModified, encryption }: ObjectInfo) {
  return { etag, size, modified: lastModified.getTime(), hasRandomEtag: encryption?.scheme === 'SSE-KMS' };
}

async function copyVersion(fetcher: Fetcher, version: FetchedVersion, own: ObjectInfo | undefined): Promise<Transfer> {
  const { objects, client, bucket } = fetcher;
  const { key, versionId, targetKey, keptId, modified, etag } = version;
  const query: Record<string, string> = versionId === 'null' ? {} : { versionId };
  const answer = await client.open({ method: 'GET', key, query });
  if (answer.status === 404) {
    await answer.discard();
    return 'same';
  }
  if (answer.status !== 200) checkAnswer(await answer.whole(), `read version ${versionId} of ${key}`);
  const header = (name: string) => {
    const value = answer.headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  try {
    // Only the answer shows that the ETag of the source is random.
    const hasRandomEtag = header('x-amz-server-side-encryption') === 'aws:kms';
    if (own !== undefined && isSameContent(ofSource(version, hasRandomEtag), ofInfo(own))) return 'same';
    const encryption = await encryptionHere(fetcher, header('x-amz-server-side-encryption'));
    const tags = header('x-amz-tagging-count') === undefined ? undefined : await tagsOf(client, key, versionId);
    const until = header('x-amz-object-lock-retain-until-date');
    const mode = header('x-amz-object-lock-mode');
    const hold = header('x-amz-object-lock-legal-hold');
    const lock =
      (mode === 'GOVERNANCE' || mode === 'COMPLIANCE') && until !== undefined
        ? { retention: { mode, until: new Date(until) } as const }
        : {};
    const isLocked = 'retention' in lock || hold !== undefined;
    await objects.putObject({
      bucket,
      key: targetKey,
      body: bodyFrom(answer.chunks),
      size: Number(header('content-length') ?? version.size),
      digests:
        /^[0-9a-f]{32}$/.test(etag) && header('x-amz-server-side-encryption') === undefined
          ? { md5: Buffer.from(etag, 'hex').toString('base64') }
          : {},
      headers: headersOf(answer.headers),
      ...(encryption && { encryption }),
      ...(tags && { tags }),
      ...(isLocked && { lock: { ...lock, ...(hold !== undefined && { legalHold: hold === 'ON' }) } }),
      ...(keptId !== undefined && { replica: { versionId: keptId, modified: new Date(modified), etag } }),
    });
    return 'changed';
  } finally {
    await answer.discard();
  }
}

/**
 * Returns the encryption of a version that is encrypted at its source. The default of the bucket comes first. Without both, a server that
 * has keys would store it plain.
 */
async function encryptionHere(
  { objects, bucket }: Pick<Fetcher, 'objects' | 'bucket'>,
  ofSourceHeader: string | undefined,
): Promise<RequestedEncryption | undefined> {
  if (ofSourceHeader === undefined) return undefined;
  const byDefault = await objects.getBucketEncryption(bucket);
  if (byDefault !== undefined && byDefault.scheme !== 'none') return undefined;
  return { scheme: ofSourceHeader === 'AES256' ? 'SSE-S3' : 'SSE-KMS' };
}

async function tagsOf(client: Fetcher['client'], key: string, versionId: string) {
  const answer = await client.send({ method: 'GET', key, query: { tagging: '', versionId } });
  checkAnswer(answer, `read the tags of version ${versionId} of ${key}`);
  return parseTagging(answer.text, 'object');
}

const standardHeaders = {
  'content-type': 'contentType',
  'content-encoding': 'contentEncoding',
  'content-disposition': 'contentDisposition',
  'content-language': 'contentLanguage',
  'cache-control': 'cacheControl',
  expires: 'expires',
  'x-amz-website-redirect-location': 'websiteRedirect',
} as const;
const userMetadata = 'x-amz-meta-';

function headersOf(headers: Readonly<Record<string, unknown>>): ObjectHeaders {
  const standard: Record<string, string> = {};
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') continue;
    if (name.startsWith(userMetadata)) metadata[name.slice(userMetadata.length)] = value;
    else if (Object.hasOwn(standardHeaders, name))
      standard[standardHeaders[name as keyof typeof standardHeaders]] = value;
  }
  return { ...standard, metadata };
}
