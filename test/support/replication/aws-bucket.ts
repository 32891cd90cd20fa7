import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export interface AwsRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly header: (name: string) => string | undefined;
}

export interface AwsAnswer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

export interface AwsVersion {
  readonly versionId: string;
  readonly deleteMarker: boolean;
  readonly body: Buffer;
  readonly etag: string;
  readonly parts: number;
  readonly headers: Record<string, string>;
  readonly modified: Date;
  tags: string;
  mode: string | undefined;
  until: string | undefined;
  hold: string | undefined;
}

/** Answers with an error document. */
export function rejected(status: number, code: string, message: string, more = ''): AwsAnswer {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message>${more}</Error>`;
  return { status, headers: { 'content-type': 'application/xml' }, body };
}

const noVersionId = rejected(
  400,
  'InvalidArgument',
  'This operation does not accept a version-id.',
  '<ArgumentName>versionId</ArgumentName>',
);
const stored =
  /^(?:content-(?:type|encoding|disposition|language)|cache-control|expires|x-amz-(?:meta-.*|storage-class|server-side-encryption|website-redirect-location))$/;
const minPart = 5 * 1024 * 1024;

/** A bucket of AWS that keeps versions. */
export class AwsBucket {
  readonly #objectLock: boolean;
  readonly #keys = new Map<string, AwsVersion[]>();
  readonly #uploads = new Map<string, { readonly request: AwsRequest; readonly parts: Map<number, Buffer> }>();

  constructor(objectLock: boolean) {
    this.#objectLock = objectLock;
  }

  /** The versions of a key, the newest first. */
  versions(key: string): readonly AwsVersion[] {
    return this.#keys.get(key) ?? [];
  }

  serve(request: AwsRequest): AwsAnswer {
    const [, , ...rest] = request.path.split('/');
    const key = rest.join('/');
    return key === '' ? this.#ofBucket(request) : this.#ofObject(request, key);
  }

  #ofBucket({ method, query }: AwsRequest): AwsAnswer {
    if (method === 'HEAD') return { status: 200, headers: { 'x-amz-bucket-region': 'eu-central-1' } };
    if (query.has('versioning')) {
      return xml('<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>');
    }
    if (query.has('object-lock')) {
      if (!this.#objectLock) return rejected(404, 'ObjectLockConfigurationNotFoundError', 'none');
      return xml('<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>');
    }
    return query.has('versions') ? this.#list(query.get('prefix') ?? '') : rejected(501, 'NotImplemented', 'double');
  }

  #list(prefix: string): AwsAnswer {
    const keys = [...this.#keys].filter(([key]) => key.startsWith(prefix)).toSorted(([x], [y]) => (x < y ? -1 : 1));
    const entries = keys.flatMap(([key, versions]) =>
      versions.map((version, at) => {
        const name = version.deleteMarker ? 'DeleteMarker' : 'Version';
        const size = version.deleteMarker ? '' : `<ETag>"${version.etag}"</ETag><Size>${version.body.length}</Size>`;
        return `<${name}><Key>${encodeURIComponent(key)}</Key><VersionId>${version.versionId}</VersionId><IsLatest>${at === 0}</IsLatest><LastModified>${version.modified.toISOString()}</LastModified>${size}</${name}>`;
      }),
    );
    return xml(`<ListVersionsResult><IsTruncated>false</IsTruncated>${entries.join('')}</ListVersionsResult>`);
  }

  #ofObject(request: AwsRequest, key: string): AwsAnswer {
    const { method, query } = request;
    const change = ['tagging', 'retention', 'legal-hold'].find((name) => query.has(name));
    if (change !== undefined) return this.#change(request, key, change);
    if (method === 'HEAD' || method === 'GET') return this.#read(query.get('versionId') ?? undefined, key);
    if (method === 'DELETE' && query.has('uploadId')) return { status: 204 };
    if (query.has('versionId')) return method === 'DELETE' ? rejected(403, 'AccessDenied', 'a version') : noVersionId;
    if (method === 'DELETE') return this.#deleted(key);
    if (method === 'POST' && query.has('uploads')) return this.#begin(request);
    if (method === 'POST') return this.#complete(request, key);
    return query.has('uploadId') ? this.#part(request) : this.#put(request, key);
  }

  #read(versionId: string | undefined, key: string): AwsAnswer {
    if (versionId !== undefined && !isOwnId(versionId))
      return rejected(400, 'InvalidArgument', 'Invalid version id specified');
    const version =
      versionId === undefined ? this.versions(key)[0] : this.versions(key).find((one) => one.versionId === versionId);
    if (version === undefined) return rejected(404, versionId === undefined ? 'NoSuchKey' : 'NoSuchVersion', 'none');
    const id = { 'x-amz-version-id': version.versionId };
    if (version.deleteMarker) {
      const marker = { ...id, 'x-amz-delete-marker': 'true' };
      return { ...rejected(versionId === undefined ? 404 : 405, 'NoSuchKey', 'none'), headers: marker };
    }
    const tags = version.tags === '' ? 0 : version.tags.split('&').length;
    return {
      status: 200,
      headers: {
        ...version.headers,
        ...id,
        etag: `"${version.etag}"`,
        ...(tags > 0 && { 'x-amz-tagging-count': String(tags) }),
        ...(version.mode && { 'x-amz-object-lock-mode': version.mode }),
      },
      body: version.body,
    };
  }

  #put(request: AwsRequest, key: string): AwsAnswer {
    const wrong = this.#checkBody(request, 'Put Object') ?? this.#checkHeaders(request);
    if (wrong !== undefined) return wrong;
    return this.#add(request, key, request.body, createHash('md5').update(request.body).digest('hex'), 1);
  }

  #checkHeaders({ headers }: AwsRequest): AwsAnswer | undefined {
    const metadata = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-meta-'));
    const size = metadata.reduce(
      (sum, [name, value]) => sum + name.length - 'x-amz-meta-'.length + String(value).length,
      0,
    );
    if (size > 2_048)
      return rejected(400, 'MetadataTooLarge', 'Your metadata headers exceed the maximum allowed metadata size.');
    const until = headers['x-amz-object-lock-retain-until-date'];
    if (until !== undefined && Date.parse(String(until)) <= Date.now()) {
      return rejected(400, 'InvalidArgument', 'The retain until date must be in the future!');
    }
    const lock = until ?? headers['x-amz-object-lock-legal-hold'];
    if (lock === undefined || this.#objectLock) return undefined;
    return rejected(400, 'InvalidRequest', 'Bucket is missing Object Lock Configuration');
  }

  #checkBody({ headers, body }: AwsRequest, what: string): AwsAnswer | undefined {
    const md5 = headers['content-md5'];
    const hasDigest =
      md5 !== undefined || Object.keys(headers).some((name) => /^x-amz-checksum-(?!algorithm|type)/.test(name));
    if (this.#objectLock && !hasDigest) {
      const message = `Content-MD5 OR x-amz-checksum- HTTP header is required for ${what} requests with Object Lock parameters`;
      return rejected(400, 'InvalidRequest', message);
    }
    if (md5 === undefined || md5 === createHash('md5').update(body).digest('base64')) return undefined;
    return rejected(400, 'BadDigest', 'The Content-MD5 you specified did not match what we received.');
  }

  #begin(request: AwsRequest): AwsAnswer {
    const wrong = this.#checkHeaders(request);
    if (wrong !== undefined) return wrong;
    const uploadId = randomBytes(16).toString('hex');
    this.#uploads.set(uploadId, { request, parts: new Map() });
    return xml(`<InitiateMultipartUploadResult><UploadId>${uploadId}</UploadId></InitiateMultipartUploadResult>`);
  }

  #part(request: AwsRequest): AwsAnswer {
    const upload = this.#uploads.get(request.query.get('uploadId') ?? '');
    if (upload === undefined) return rejected(404, 'NoSuchUpload', 'none');
    const wrong = this.#checkBody(request, 'Put Part');
    if (wrong !== undefined) return wrong;
    upload.parts.set(Number(request.query.get('partNumber')), request.body);
    return { status: 200, headers: { etag: `"${createHash('md5').update(request.body).digest('hex')}"` } };
  }

  #complete(request: AwsRequest, key: string): AwsAnswer {
    const upload = this.#uploads.get(request.query.get('uploadId') ?? '');
    if (upload === undefined) return rejected(404, 'NoSuchUpload', 'none');
    const parts = [...upload.parts].toSorted(([x], [y]) => x - y).map(([, body]) => body);
    if (parts.slice(0, -1).some(({ length }) => length < minPart)) return rejected(400, 'EntityTooSmall', 'too small');
    const digests = parts.map((body) => createHash('md5').update(body).digest());
    const etag = `${createHash('md5').update(Buffer.concat(digests)).digest('hex')}-${parts.length}`;
    const added = this.#add(upload.request, key, Buffer.concat(parts), etag, parts.length);
    return {
      ...xml(`<CompleteMultipartUploadResult><ETag>"${etag}"</ETag></CompleteMultipartUploadResult>`, added.headers),
    };
  }

  #add({ headers, header }: AwsRequest, key: string, body: Buffer, etag: string, parts: number): AwsAnswer {
    const versionId = newId();
    const kept = Object.entries(headers).filter(([name]) => stored.test(name));
    this.#push(key, {
      ...markerOf(versionId),
      deleteMarker: false,
      body,
      etag,
      parts,
      headers: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
      tags: header('x-amz-tagging') ?? '',
      mode: header('x-amz-object-lock-mode'),
      until: header('x-amz-object-lock-retain-until-date'),
      hold: header('x-amz-object-lock-legal-hold'),
    });
    return { status: 200, headers: { etag: `"${etag}"`, 'x-amz-version-id': versionId } };
  }

  #deleted(key: string): AwsAnswer {
    const versionId = newId();
    this.#push(key, markerOf(versionId));
    return { status: 204, headers: { 'x-amz-version-id': versionId, 'x-amz-delete-marker': 'true' } };
  }

  #push(key: string, version: AwsVersion): void {
    this.#keys.set(key, [version, ...this.versions(key)]);
  }

  #change({ method, query, body, headers }: AwsRequest, key: string, change: string): AwsAnswer {
    const id = query.get('versionId');
    const version = id === null ? this.versions(key)[0] : this.versions(key).find(({ versionId }) => versionId === id);
    if (version === undefined) return rejected(404, 'NoSuchVersion', 'none');
    const text = body.toString();
    if (method === 'PUT' && headers['content-md5'] === undefined)
      return rejected(400, 'InvalidRequest', 'Missing Content-MD5');
    if (change === 'tagging') {
      const tags = [...text.matchAll(/<Key>([^<]*)<\/Key><Value>([^<]*)<\/Value>/g)];
      version.tags = tags.map(([, name, value]) => `${name}=${value}`).join('&');
    } else if (change === 'retention') {
      version.mode = /<Mode>(\w+)</.exec(text)?.[1];
      version.until = /<RetainUntilDate>([^<]+)</.exec(text)?.[1];
    } else {
      version.hold = /<Status>(\w+)</.exec(text)?.[1];
    }
    return { status: method === 'DELETE' ? 204 : 200 };
  }
}

function markerOf(versionId: string): AwsVersion {
  return {
    versionId,
    deleteMarker: true,
    body: Buffer.alloc(0),
    etag: '',
    parts: 0,
    headers: {},
    modified: new Date(),
    tags: '',
    mode: undefined,
    until: undefined,
    hold: undefined,
  };
}

/** Ids of AWS have no order. */
function newId(): string {
  return `V.${randomBytes(22).toString('base64url')}`;
}

function isOwnId(versionId: string): boolean {
  return versionId === 'null' || versionId.startsWith('V.');
}

function xml(document: string, headers: Record<string, string> = {}): AwsAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'application/xml', ...headers },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${document}`,
  };
}
