import { canonicalIdOf } from '../../auth/principal.ts';
import { type SignatureKind, signatureKind } from '../../auth/condition-keys.ts';
import { rawQueryWithoutSecrets } from '../audit/without-secrets.ts';
import type { FinishedRequest } from '../../http/contract/request.ts';
import { headerIn } from '../../http/contract/request-audit.ts';

/** The value of `x-amz-id-2`, which all servers send. */
const hostId = 'coffer';

/**
 * Writes the line of a request in the format of Amazon's server access logs, with its line end. A field that is unknown is a dash. Callers
 * chose most of the texts: none of them can end a line or a field.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
 */
export function accessLogLine(finished: FinishedRequest, owner: string): string {
  const { request, key, status, refusal, ms, firstByteMs, responseHeaders } = finished;
  const { headers, method, rawPath, rawQuery } = request;
  const query = rawQuery === '' ? undefined : new URLSearchParams(rawQuery);
  const signature = verifiedSignature(finished, query ?? noParameters);
  const versionId = query?.get('versionId') ?? headerIn(responseHeaders, 'x-amz-version-id');
  const target = rawQuery === '' ? rawPath : `${rawPath}?${withoutSecrets(rawQuery)}`;
  const length = headerIn(responseHeaders, 'content-length');
  // One template: joining a list of its fields took a third of the time.
  return (
    `${firstFields(finished, owner)} ${request.requestId} ${operationOf(finished)} ${keyOf(key)} ` +
    `${quoted(`${method} ${target} HTTP/1.1`)} ${status === 0 ? '-' : status} ${refusal?.code ?? '-'} ` +
    `${bytesSent(finished, length) ?? '-'} ${objectSize(finished, length) ?? '-'} ${Math.round(ms)} ` +
    `${firstByteMs === undefined ? '-' : Math.round(firstByteMs)} ${lastFields(headers, versionId, signature)}`
  );
}

/** Amazon's logs have a dash where the caller was not authenticated: any caller can write the name of a signature. */
function verifiedSignature(
  { signature: ofForm, request, principal }: FinishedRequest,
  query: URLSearchParams,
): SignatureKind | undefined {
  if (principal === undefined || principal.kind === 'anonymous') return undefined;
  return ofForm ?? signatureKind(request.headers, query);
}

/** The fields that most requests of a thread share, and their text. */
let first = { second: NaN, bucket: '', address: '', caller: '', owner: '', text: '' };
let last: {
  readonly referer: string | undefined;
  readonly agent: string | undefined;
  readonly host: string | undefined;
  readonly versionId: string | undefined;
  readonly signature: SignatureKind | undefined;
  readonly text: string;
} = { referer: '', agent: '', host: '', versionId: '', signature: undefined, text: '' };

/** Returns the owner of the bucket, the bucket, the second of the request, the address and the caller. */
function firstFields({ startedAt, bucket = '', request, principal }: FinishedRequest, owner: string): string {
  const second = Math.floor(startedAt / 1_000);
  const address = request.remoteAddress;
  const caller = (principal && canonicalIdOf(principal)) ?? '-';
  const isSame =
    second === first.second &&
    bucket === first.bucket &&
    address === first.address &&
    caller === first.caller &&
    owner === first.owner;
  if (!isSame) {
    const text = flat(`${owner} ${word(bucket)} [${timeText(new Date(startedAt))}] ${word(address)} ${caller}`);
    first = { second, bucket, address, caller, owner, text };
  }
  return first.text;
}

/** Returns the fields from the referer to the end of the line. */
function lastFields(
  { referer, 'user-agent': agent, host }: FinishedRequest['request']['headers'],
  versionId: string | undefined,
  signature: SignatureKind | undefined,
): string {
  const isSame =
    referer === last.referer &&
    agent === last.agent &&
    host === last.host &&
    versionId === last.versionId &&
    signature?.version === last.signature?.version &&
    signature?.method === last.signature?.method;
  if (!isSame) {
    const text = flat(
      `${quoted(addressWithoutSecrets(referer))} ${quoted(agent)} ${word(versionId)} ${hostId} ${signature?.version ?? '-'} ` +
        // The cipher and the version of TLS are of the connection, which a finished request does not have.
        `- ${signature?.method ?? '-'} ${word(host)} - - -\n`,
    );
    last = { referer, agent, host, versionId, signature, text };
  }
  return last.text;
}

/** Returns a text of ASCII as one piece. V8 keeps a template as its parts, and would copy each of them into each line. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `06/Feb/2019:00:00:38 +0000`. */
function timeText(date: Date): string {
  const [hours, minutes, seconds] = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two);
  return `${two(date.getUTCDate())}/${months[date.getUTCMonth()]}/${date.getUTCFullYear()}:${hours}:${minutes}:${seconds} +0000`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** Operations whose name in logs does not follow from their name in the documentation. */
const operations: Readonly<Record<string, string>> = {
  CopyObject: 'REST.COPY.OBJECT',
  UploadPartCopy: 'REST.COPY.PART',
  UploadPart: 'REST.PUT.PART',
  CreateMultipartUpload: 'REST.POST.UPLOADS',
  CompleteMultipartUpload: 'REST.POST.UPLOAD',
  AbortMultipartUpload: 'REST.DELETE.UPLOAD',
  ListParts: 'REST.GET.UPLOAD',
  ListMultipartUploads: 'REST.GET.UPLOADS',
  ListObjects: 'REST.GET.BUCKET',
  ListObjectsV2: 'REST.GET.BUCKET',
  ListObjectVersions: 'REST.GET.BUCKETVERSIONS',
  DeleteObjects: 'REST.POST.MULTI_OBJECT_DELETE',
  PostObject: 'REST.POST.BUCKET',
  SelectObjectContent: 'REST.SELECT.OBJECT',
};

/** The names of operations that were logged, by the method of the request. The server names the operations. */
const names = new Map<string, Map<string, string>>();

function operationOf({ operation, request: { method } }: FinishedRequest): string {
  if (operation === undefined) return '-';
  const ofMethod = names.get(method);
  const known = ofMethod?.get(operation);
  if (known !== undefined) return known;
  const name = operationName(operation, method);
  if (ofMethod !== undefined) ofMethod.set(operation, name);
  // Node takes no other methods than those that it knows.
  else names.set(method, new Map([[operation, name]]));
  return name;
}

/** `REST.METHOD.RESOURCE`: GetBucketVersioning is REST.GET.VERSIONING, PutObjectTagging is REST.PUT.OBJECT_TAGGING. */
function operationName(operation: string, method: string): string {
  const known = operations[operation];
  if (known !== undefined) return known;
  const resource = operation
    .replace(/^(?:Get|Put|Head|Delete|Create|List)/, '')
    .replace(/^Bucket(?=.)/, '')
    .replace(/Configuration$/, '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toUpperCase();
  return `REST.${/^[A-Z]+$/.test(method) ? method : 'OTHER'}.${resource === 'LOGGING' ? 'LOGGING_STATUS' : resource}`;
}

/** Bytes of the body; undefined for none. */
function bytesSent(finished: FinishedRequest, length: string | undefined): string | undefined {
  if (finished.request.method === 'HEAD') return undefined;
  // The body of a broken answer, and one without a length, is known only together with its head.
  if (finished.outcome !== 'answered' || length === undefined) {
    const { sent } = finished;
    return sent > 0 ? String(sent) : undefined;
  }
  return length === '0' ? undefined : length;
}

/** The whole size of the object that was read or written. */
function objectSize(
  { operation, request, responseHeaders, status }: FinishedRequest,
  length: string | undefined,
): string | undefined {
  if (status >= 300) return undefined;
  if (operation === 'GetObject' || operation === 'HeadObject') {
    return headerIn(responseHeaders, 'content-range')?.split('/')[1] ?? length;
  }
  if (operation !== 'PutObject' && operation !== 'UploadPart') return undefined;
  const received = textOf(request.headers['x-amz-decoded-content-length']) ?? request.headers['content-length'];
  // The caller chose the header.
  return received !== undefined && /^\d{1,20}$/.test(received) ? received : undefined;
}

const noParameters = new URLSearchParams();

/**
 * Removes signatures, session tokens and digests: a reader of the logs could use a presigned URL or a token, and a digest reveals a body that
 * is encrypted.
 */
function withoutSecrets(rawQuery: string): string {
  return rawQueryWithoutSecrets(rawQuery, '-');
}

/** A page that was itself opened by a presigned URL sends it as the referer. */
function addressWithoutSecrets(address: string | undefined): string | undefined {
  const question = address?.indexOf('?') ?? -1;
  if (address === undefined || question < 0) return address;
  return `${address.slice(0, question)}?${withoutSecrets(address.slice(question + 1))}`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function keyOf(key: string | undefined): string {
  if (key === undefined || key === '') return '-';
  // `encodeURIComponent` keeps the characters of most keys.
  return /[^\w!'()*\-./~]/.test(key) ? word(key.split('/').map(encodeURIComponent).join('/')) : key;
}

/** A field without spaces. */
function word(text: string | undefined): string {
  if (text === undefined || text === '') return '-';
  const plain = /[^!#-~]/.test(text) ? text.replaceAll(/[^!#-~]/g, encodeCharacter) : text;
  return plain.length > 4_096 ? plain.slice(0, 4_096) : plain;
}

/** A field in quotes. */
function quoted(text: string | undefined): string {
  if (text === undefined) return '"-"';
  const plain = /[^ !#-~]/.test(text) ? text.replaceAll(/[^ !#-~]/g, encodeCharacter) : text;
  return `"${plain.length > 8_192 ? plain.slice(0, 8_192) : plain}"`;
}

/** Node keeps a byte of a header as one character. */
function encodeCharacter(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
