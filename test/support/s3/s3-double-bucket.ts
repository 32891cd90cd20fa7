import { createHash, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export interface DoubleRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface DoubleAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface StoredObject {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly modified: Date;
}

interface StoredUpload {
  readonly key: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly begun: Date;
  readonly parts: Map<number, Buffer>;
}

class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const nothing = Buffer.alloc(0);

/** The bucket `blobs` of the double: what it holds, and S3's rules for it. */
export class DoubleBucket {
  readonly objects = new Map<string, StoredObject>();
  readonly uploads = new Map<string, StoredUpload>();
  versions = false;
  /** Keys in a page of a list. */
  pageSize = 1000;
  /** Objects made from now on have this age. */
  ageMs = 0;

  operation({ method, path, query }: DoubleRequest): string {
    const has = (name: string): boolean => query.has(name);
    const ofObject = path.split('/').length > 2 && !path.endsWith('blobs/');
    if (!ofObject) return has('uploads') ? 'ListUploads' : has('versioning') ? 'Versioning' : 'List';
    if (method === 'POST') return has('uploads') ? 'Create' : 'Complete';
    if (method === 'DELETE') return has('uploadId') ? 'Abort' : 'Delete';
    if (method === 'PUT') return has('uploadId') ? 'Part' : 'Put';
    return method === 'HEAD' ? 'Head' : 'Get';
  }

  answer(request: DoubleRequest): DoubleAnswer {
    try {
      this.#check(request);
      return identified(this.#do(request, request.path.slice('/blobs/'.length)));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const xml = `<Error><Code>${error.code}</Code><Message>${error.message}</Message></Error>`;
      return identified({ status: error.status, body: request.method === 'HEAD' ? nothing : Buffer.from(xml) });
    }
  }

  #check({ method, path, headers, body, query }: DoubleRequest): void {
    if (!path.startsWith('/blobs')) throw new Refusal(404, 'NoSuchBucket', path);
    if (!(headers.authorization ?? '').includes('Credential=KEY/')) throw new Refusal(403, 'AccessDenied', 'unsigned');
    if (method === 'PUT' && headers['content-length'] === undefined)
      throw new Refusal(411, 'MissingContentLength', 'no length');
    const signed = headers['x-amz-content-sha256'];
    const md5 = headers['content-md5'];
    if (signed === 'UNSIGNED-PAYLOAD' && md5 === undefined) throw new Refusal(400, 'InvalidRequest', 'nothing vouches');
    if (md5 !== undefined && !(headers.authorization ?? '').includes('content-md5;'))
      throw new Refusal(403, 'AccessDenied', 'the MD5 is not signed');
    if (md5 !== undefined && Buffer.from(String(md5), 'base64').toString('hex') !== etagOf(body).slice(1, -1))
      throw new Refusal(400, 'BadDigest', 'the body is not the one that was sent');
    if (signed !== 'UNSIGNED-PAYLOAD' && signed !== createHash('sha256').update(body).digest('hex'))
      throw new Refusal(400, 'XAmzContentSHA256Mismatch', 'the body is not the one that was signed');
    for (const name of query.keys()) if (!known.has(name)) throw new Refusal(501, 'NotImplemented', `query ${name}`);
  }

  #do(request: DoubleRequest, key: string): DoubleAnswer {
    switch (this.operation(request)) {
      case 'List':
        return this.#list(request.query);
      case 'ListUploads':
        return this.#listUploads(request.query);
      case 'Versioning':
        return xml(
          `<VersioningConfiguration>${this.versions ? '<Status>Enabled</Status>' : ''}</VersioningConfiguration>`,
        );
      case 'Put':
        this.#refuseSecond(request, key);
        return { status: 200, headers: { etag: this.#store(key, request.body, metadataOf(request)) }, body: nothing };
      case 'Get':
        return this.#get(request, key);
      case 'Head': {
        const object = this.#object(key);
        return {
          status: 200,
          headers: { ...describe(object), 'content-length': String(object.bytes.length) },
          body: nothing,
        };
      }
      case 'Delete':
        this.objects.delete(key);
        return { status: 204, body: nothing };
      case 'Create': {
        const id = randomUUID();
        const begun = new Date(Date.now() - this.ageMs);
        this.uploads.set(id, { key, metadata: metadataOf(request), begun, parts: new Map() });
        return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
      }
      case 'Part': {
        const upload = this.#upload(request, key);
        upload.parts.set(Number(request.query.get('partNumber')), request.body);
        return { status: 200, headers: { etag: etagOf(request.body) }, body: nothing };
      }
      case 'Abort':
        this.#upload(request, key);
        this.uploads.delete(request.query.get('uploadId') ?? '');
        return { status: 204, body: nothing };
      case 'Complete':
        return this.#complete(request, key);
      default:
        throw new Refusal(501, 'NotImplemented', request.path);
    }
  }

  #complete(request: DoubleRequest, key: string): DoubleAnswer {
    const upload = this.#upload(request, key);
    this.#refuseSecond(request, key);
    const text = request.body.toString();
    const named = [...text.matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map((match) => Number(match[1]));
    const tags = [...text.matchAll(/<ETag>(.*?)<\/ETag>/g)].map((match) => (match[1] ?? '').replaceAll('&quot;', '"'));
    const parts = named.map((number) => upload.parts.get(number) ?? nothing);
    const orderly = named.every((number, index) => number === index + 1);
    const known = parts.every((part, index) => etagOf(part) === tags[index]);
    if (!orderly || !known || named.length !== upload.parts.size) throw new Refusal(400, 'InvalidPart', text);
    const size = parts[0]?.length ?? 0;
    if (parts.slice(0, -1).some((part) => part.length !== size) || (parts.at(-1)?.length ?? 0) > size)
      throw new Refusal(400, 'InvalidPart', 'parts are not of one size');
    const etag = this.#store(key, Buffer.concat(parts), upload.metadata, multipartEtag(parts));
    this.uploads.delete(request.query.get('uploadId') ?? '');
    return xml(`<CompleteMultipartUploadResult><ETag>${etag}</ETag></CompleteMultipartUploadResult>`);
  }

  #get(request: DoubleRequest, key: string): DoubleAnswer {
    const object = this.#object(key);
    const match = request.headers['if-match'];
    if (match !== undefined && match !== object.etag) throw new Refusal(412, 'PreconditionFailed', match);
    if (request.headers.range === undefined) return { status: 200, headers: describe(object), body: object.bytes };
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range);
    if (range === null) throw new Refusal(501, 'NotImplemented', `the range ${request.headers.range}`);
    const size = object.bytes.length;
    const start = Number(range[1]);
    if (start >= size) throw new Refusal(416, 'InvalidRange', `${start} of ${size}`);
    const end = Math.min(Number(range[2]) + 1, size);
    const headers = { ...describe(object), 'content-range': `bytes ${start}-${end - 1}/${size}` };
    return { status: 206, headers, body: object.bytes.subarray(start, end) };
  }

  #list(query: URLSearchParams): DoubleAnswer {
    const after = query.get('continuation-token') ?? '';
    const prefix = query.get('prefix') ?? '';
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
    const page = keys.slice(0, Math.min(this.pageSize, Number(query.get('max-keys') ?? 1000)));
    const contents = page.map((key) => {
      const { bytes, modified } = this.#object(key);
      return `<Contents><Key>${key}</Key><Size>${bytes.length}</Size><LastModified>${modified.toISOString()}</LastModified></Contents>`;
    });
    const more = page.length < keys.length;
    const token = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    return xml(
      `<ListBucketResult><Name>blobs</Name><IsTruncated>${more}</IsTruncated>${token}${contents.join('')}</ListBucketResult>`,
    );
  }

  #listUploads(query: URLSearchParams): DoubleAnswer {
    const after = query.has('key-marker') ? `${query.get('key-marker')} ${query.get('upload-id-marker')}` : '';
    const all = [...this.uploads]
      .filter(([id, upload]) => upload.key.startsWith(query.get('prefix') ?? '') && nameOf([id, upload]) > after)
      .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    const page = all.slice(0, this.pageSize);
    const uploads = page.map(
      ([id, { key, begun }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${begun.toISOString()}</Initiated></Upload>`,
    );
    const more = page.length < all.length;
    const [id, last] = page.at(-1) ?? [];
    const marker = `<NextKeyMarker>${last?.key}</NextKeyMarker><NextUploadIdMarker>${id}</NextUploadIdMarker>`;
    return xml(
      `<ListMultipartUploadsResult><Bucket>blobs</Bucket><IsTruncated>${more}</IsTruncated>${more ? marker : ''}${uploads.join('')}</ListMultipartUploadsResult>`,
    );
  }

  #store(key: string, bytes: Buffer, metadata: Readonly<Record<string, string>>, etag = etagOf(bytes)): string {
    const object = { bytes, etag, metadata, modified: new Date(Date.now() - this.ageMs) };
    this.objects.set(key, object);
    return object.etag;
  }

  #refuseSecond({ headers }: DoubleRequest, key: string): void {
    if (headers['if-none-match'] === '*' && this.objects.has(key)) throw new Refusal(412, 'PreconditionFailed', key);
  }

  #object(key: string): StoredObject {
    const object = this.objects.get(key);
    if (object === undefined) throw new Refusal(404, 'NoSuchKey', key);
    return object;
  }

  #upload({ query }: DoubleRequest, key: string): StoredUpload {
    const upload = this.uploads.get(query.get('uploadId') ?? '');
    if (upload?.key !== key) throw new Refusal(404, 'NoSuchUpload', key);
    return upload;
  }
}

const known = new Set([
  'continuation-token',
  'key-marker',
  'list-type',
  'max-keys',
  'partNumber',
  'prefix',
  'upload-id-marker',
  'uploadId',
  'uploads',
  'versioning',
  'x-id',
]);

function describe({ etag, metadata, modified }: StoredObject): Record<string, string> {
  return { etag, 'last-modified': modified.toUTCString(), ...metadata };
}

function metadataOf({ headers }: DoubleRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (name.startsWith('x-amz-meta-') ? [[name, String(value)]] : [])),
  );
}

/** Uploads are listed in the order of their keys, then of their ids. */
function nameOf([id, { key }]: readonly [string, StoredUpload]): string {
  return `${key} ${id}`;
}

const etags = new WeakMap<Buffer, string>();

/** A part is stored, listed and completed by its ETag, which is computed once. */
function etagOf(bytes: Buffer): string {
  const known = etags.get(bytes);
  if (known !== undefined) return known;
  const etag = `"${createHash('md5').update(bytes).digest('hex')}"`;
  etags.set(bytes, etag);
  return etag;
}

function multipartEtag(parts: readonly Buffer[]): string {
  return `"${createHash('md5').update(parts.map(etagOf).join('')).digest('hex')}-${parts.length}"`;
}

/** Each S3 gives its answers an id. */
function identified(answer: DoubleAnswer): DoubleAnswer {
  return { ...answer, headers: { 'x-amz-request-id': randomUUID(), ...answer.headers } };
}

function xml(text: string): DoubleAnswer {
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(text) };
}
