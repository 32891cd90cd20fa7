import { canonicalIdOf } from '../../auth/principal.ts';
import { signatureKind } from '../../auth/condition-keys.ts';
import { rawQueryWithoutSecrets } from '../audit/without-secrets.ts';
import type { FinishedRequest } from '../../http/contract/request.ts';

/** The value of `x-amz-id-2`, which all servers send. */
const hostId = 'coffer';

/**
 * Writes the line of a request in the format of Amazon's server access logs, with its line end. A field that is unknown is a dash. Callers
 * chose most of the texts: none of them can end a line or a field.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
 */
export function accessLogLine(finished: FinishedRequest, owner: string): string {
  const { request, bucket, key, status, refusal, startedAt, ms, firstByteMs, responseHeaders, principal } = finished;
  const { headers, method, rawPath, rawQuery } = request;
  const query = rawQuery === '' ? noParameters : new URLSearchParams(rawQuery);
  const signature = finished.signature ?? signatureKind(headers, query);
  const versionId = query.get('versionId') ?? textOf(responseHeaders['x-amz-version-id']);
  const target = rawQuery === '' ? rawPath : `${rawPath}?${withoutSecrets(rawQuery)}`;
  // One template: joining a list of its fields took a third of the time.
  return (
    `${owner} ${bucketField(bucket)} [${timeOf(startedAt)}] ${addressField(request.remoteAddress)} ` +
    `${(principal && canonicalIdOf(principal)) ?? '-'} ${request.requestId} ${operationOf(finished)} ${keyOf(key)} ` +
    `${quoted(`${method} ${target} HTTP/1.1`)} ${status === 0 ? '-' : status} ${refusal?.code ?? '-'} ` +
    `${bytesSent(finished) ?? '-'} ${objectSize(finished) ?? '-'} ${Math.round(ms)} ` +
    `${firstByteMs === undefined ? '-' : Math.round(firstByteMs)} ${refererField(headers.referer)} ` +
    `${agentField(headers['user-agent'])} ${word(versionId)} ${hostId} ${signature?.version ?? '-'} ` +
    // The cipher and the version of TLS are of the connection, which a finished request does not have.
    `- ${signature?.method ?? '-'} ${hostField(headers.host)} - - -\n`
  );
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** The second of the last line, and its text: a busy server writes thousands of lines a second. */
let last = { second: NaN, text: '' };

function timeOf(ms: number): string {
  const second = Math.floor(ms / 1_000);
  if (second !== last.second) last = { second, text: timeText(new Date(ms)) };
  return last.text;
}

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
function bytesSent(finished: FinishedRequest): string | undefined {
  if (finished.request.method === 'HEAD') return undefined;
  const length = textOf(finished.responseHeaders['content-length']);
  // The body of a broken answer, and one without a length, is known only together with its head.
  if (finished.outcome !== 'answered' || length === undefined) {
    const { sent } = finished;
    return sent > 0 ? String(sent) : undefined;
  }
  return length === '0' ? undefined : length;
}

/** The whole size of the object that was read or written. */
function objectSize({ operation, request, responseHeaders, status }: FinishedRequest): string | undefined {
  if (status >= 300) return undefined;
  if (operation === 'GetObject' || operation === 'HeadObject') {
    const range = textOf(responseHeaders['content-range']);
    return range?.split('/')[1] ?? textOf(responseHeaders['content-length']);
  }
  if (operation !== 'PutObject' && operation !== 'UploadPart') return undefined;
  const length = textOf(request.headers['x-amz-decoded-content-length']) ?? request.headers['content-length'];
  // The caller chose the header.
  return length !== undefined && /^\d{1,20}$/.test(length) ? length : undefined;
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
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function keyOf(key: string | undefined): string {
  if (key === undefined || key === '') return '-';
  // `encodeURIComponent` keeps the characters of most keys.
  return /[^\w!'()*\-./~]/.test(key) ? word(key.split('/').map(encodeURIComponent).join('/')) : key;
}

/** Returns a function that remembers the last text and its field: most requests of a thread have the same address, host and client. */
function remembering(field: (text: string | undefined) => string): (text: string | undefined) => string {
  let last: string | undefined;
  let result = field(last);
  return (text) => {
    if (text !== last) {
      result = field(text);
      last = text;
    }
    return result;
  };
}

const bucketField = remembering(word);
const addressField = remembering(word);
const hostField = remembering(word);
const refererField = remembering((address) => quoted(addressWithoutSecrets(address)));
const agentField = remembering(quoted);

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
