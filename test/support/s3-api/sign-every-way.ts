import { createHmac } from 'node:crypto';
import { presignUrl, signRequest } from '../../../protocol/sigv4/sign-request.ts';
import { routes } from '../../../server/s3/routes.ts';
import type { StoredCredentials } from '../../../server/auth/principal.ts';

/** The clock of the authenticator. */
export const now = new Date('2026-03-04T05:06:07Z');
export const domain = 's3.example.com';

export const root: StoredCredentials = {
  accessKey: 'root',
  secretKey: 'root-password',
  principal: { kind: 'root', accessKey: 'root' },
};

/** A request that is not signed yet. */
export interface PlainRequest {
  readonly method: string;
  /** Of path style. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case, beginning with `x-amz-`. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface SentRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Signer {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
}

/** How a request can be signed. */
export type Way = 'header V4' | 'URL V4' | 'header V2' | 'URL V2';
export const ways: readonly Way[] = ['header V4', 'URL V4', 'header V2', 'URL V2'];

export interface Signing {
  readonly hosted?: boolean;
  readonly at?: Date;
  readonly region?: string;
  readonly service?: string;
  readonly expires?: number;
  readonly payloadHash?: string;
}

/** Signs a request. The signatures of version 2 are made here by hand. */
export function sign(way: Way, request: PlainRequest, signer: Signer, signing: Signing = {}): SentRequest {
  const { hosted = false, at = now } = signing;
  const host = hosted ? `bucket.${domain}` : 's3.example';
  const path = hosted ? request.path.replace(/^\/bucket\/?/, '/') : request.path;
  const signed = { ...request, path: hosted ? `/bucket${path}` : path };
  const carried = way.startsWith('URL') ? { ...request.query, ...request.headers } : request.query;
  const query = Object.entries(carried)
    .map(([name, value]) => (value === '' ? name : `${name}=${encodeURIComponent(value)}`))
    .join('&');
  const plain = { method: request.method, rawPath: path, rawQuery: query, headers: { host, ...request.headers } };
  const scope = { region: signing.region ?? 'us-east-1', service: signing.service ?? 's3', now: at };
  switch (way) {
    case 'header V4': {
      const added = signRequest(plain, signer, { ...scope, payloadHash: signing.payloadHash ?? 'UNSIGNED-PAYLOAD' });
      return { method: request.method, target: targetOf(path, query), headers: { ...plain.headers, ...added } };
    }
    case 'URL V4': {
      const url = new URL(`http://${host}${targetOf(path, query)}`);
      const { method } = request;
      const { search } = presignUrl(url, signer, {
        ...scope,
        expires: signing.expires ?? 60,
        method,
        ...(signing.payloadHash !== undefined && { payloadHash: signing.payloadHash }),
      });
      return { method, target: `${path}${search}`, headers: { host } };
    }
    case 'header V2': {
      const date = at.toUTCString();
      const text = `${request.method}\n\n\n${date}\n${version2(signed)}`;
      const authorization = `AWS ${signer.accessKey}:${hmac(text, signer.secretKey)}`;
      return {
        method: request.method,
        target: targetOf(path, query),
        headers: { ...plain.headers, date, authorization },
      };
    }
    case 'URL V2': {
      const expires = String(Math.floor(at.getTime() / 1_000) + (signing.expires ?? 60));
      const signature = hmac(`${request.method}\n\n\n${expires}\n${version2(signed)}`, signer.secretKey);
      const own = String(
        new URLSearchParams({ AWSAccessKeyId: signer.accessKey, Expires: expires, Signature: signature }),
      );
      return {
        method: request.method,
        target: targetOf(path, query === '' ? own : `${query}&${own}`),
        headers: { host },
      };
    }
    default:
      return way satisfies never;
  }
}

function targetOf(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

function hmac(text: string, secretKey: string): string {
  return createHmac('sha1', secretKey).update(text).digest('base64');
}

/** The end of the text that version 2 signs: headers, path and the parameters that it covers. */
function version2({ path, query, headers }: PlainRequest): string {
  const lines = Object.keys(headers)
    .toSorted()
    .map((name) => `${name}:${headers[name] ?? ''}\n`);
  const covered = Object.keys(query)
    .filter((name) => name !== 'list-type')
    .toSorted()
    .map((name) => (query[name] === '' ? name : `${name}=${query[name] ?? ''}`));
  return `${lines.join('')}${path}${covered.length === 0 ? '' : `?${covered.join('&')}`}`;
}

/** A request for each row of the route table, except forms, which are signed in their fields. */
export const everyRequest: readonly (readonly [name: string, request: PlainRequest])[] = routes
  .filter(([method, level, flags]) => !(method === 'POST' && level === 'bucket' && flags === ''))
  .map(([method, level, flags, { name }]) => {
    const names = flags.split(' ').filter((flag) => flag !== '');
    const query: Record<string, string> = {};
    for (const flag of names) if (flag !== 'copy') query[flag] = flag === 'list-type' ? '2' : '';
    if (names.includes('uploadId')) query['uploadId'] = '0123456789abcdef0123456789abcdef';
    if (names.includes('uploadId') && method === 'PUT') query['partNumber'] = '1';
    const headers: Record<string, string> = {};
    if (names.includes('copy')) headers['x-amz-copy-source'] = '/bucket/key';
    if (names.includes('attributes')) headers['x-amz-object-attributes'] = 'ETag';
    const path = { service: '/', bucket: '/bucket', object: '/bucket/key' }[level];
    return [
      `${name} (${method} ${level}${flags === '' ? '' : `?${flags}`})`,
      { method, path, query, headers },
    ] as const;
  });
