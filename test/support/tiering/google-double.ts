import { createHash, generateKeyPairSync, type KeyObject, randomBytes, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface StoredObject {
  readonly bytes: Buffer;
  readonly generation: string;
  readonly storageClass: string;
  readonly created: Date;
}

interface Upload {
  readonly name: string;
  readonly storageClass: string;
  readonly ifAbsent: boolean;
  bytes: Buffer;
}

/** What goes wrong with the next requests. */
export interface GoogleFaults {
  /** Each request gets 503 while there are some left. */
  unavailable: number;
  /** The bytes that are kept of the next chunk, whose connection ends then. */
  keepOfNextChunk: number | undefined;
  /** The answer to the end of the next upload is lost. */
  loseLastAnswer: boolean;
  /** The bytes that the next read sends before its connection ends. */
  cutNextRead: number | undefined;
  /** The next object has another MD5 than what was sent. */
  damageNext: boolean;
}

export interface GoogleDouble {
  readonly endpoint: string;
  readonly objects: Map<string, StoredObject>;
  /** `METHOD /path?query` of the requests so far, and their range. */
  readonly requests: readonly string[];
  readonly faults: GoogleFaults;
  /** The content of the file of a key of a service account that may use the bucket. */
  readonly keyFile: string;
  close(): Promise<void>;
}

const granule = 256 * 1024;
const scope = 'https://www.googleapis.com/auth/devstorage.read_write';
const email = 'coffer@project.iam.gserviceaccount.com';

/**
 * A strict double of the JSON API of Google Cloud Storage with one bucket: it takes tokens that the service account signed alone, resumable
 * uploads in chunks of whole 256 KiB, and conditions on the generation.
 *
 * @see https://cloud.google.com/storage/docs/json_api/v1
 */
export async function startGoogleDouble(bucket = 'cold'): Promise<GoogleDouble> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const keyFile = JSON.stringify({
    type: 'service_account',
    project_id: 'project',
    private_key_id: 'key-1',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: email,
  });
  const double = new Double(bucket, publicKey);
  const server = createServer((request, response) => void double.serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  double.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    endpoint: double.endpoint,
    objects: double.objects,
    requests: double.requests,
    faults: double.faults,
    keyFile,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

class Double {
  endpoint = '';
  readonly objects = new Map<string, StoredObject>();
  readonly requests: string[] = [];
  readonly faults: GoogleFaults = {
    unavailable: 0,
    keepOfNextChunk: undefined,
    loseLastAnswer: false,
    cutNextRead: undefined,
    damageNext: false,
  };
  readonly #bucket: string;
  readonly #key: KeyObject;
  readonly #uploads = new Map<string, Upload>();

  constructor(bucket: string, key: KeyObject) {
    this.#bucket = bucket;
    this.#key = key;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method = '', url = '', headers } = request;
    this.requests.push([method, url, headers['content-range'] ?? headers.range].filter(Boolean).join(' '));
    if (this.faults.unavailable > 0) {
      this.faults.unavailable -= 1;
      return refuse(response, 503, 'backendError', 'Backend Error');
    }
    if (!this.#isAuthorized(headers.authorization)) return refuse(response, 401, 'authError', 'Invalid Credentials');
    const { pathname, searchParams } = new URL(url, this.endpoint);
    const [, upload, ofBucket, name] = /^(\/upload)?\/storage\/v1\/b\/([^/]+)\/o(?:\/([^/]+))?$/.exec(pathname) ?? [];
    if (ofBucket === undefined) return refuse(response, 404, 'notFound', 'Not Found');
    if (ofBucket !== this.#bucket) return refuse(response, 404, 'notFound', 'The specified bucket does not exist.');
    if (upload !== undefined) return this.#upload(method, searchParams, { headers, body }, response);
    if (name === undefined) return this.#list(searchParams, response);
    return this.#object(method, decodeURIComponent(name), { searchParams, range: headers.range }, response);
  }

  /** Google takes tokens that an account signs itself, for an hour at most. */
  #isAuthorized(header = ''): boolean {
    const [, head = '', claims = '', signature = ''] = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(header) ?? [];
    if (!verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), this.#key, Buffer.from(signature, 'base64url')))
      return false;
    const {
      iss,
      sub,
      iat,
      exp,
      scope: asked,
    } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as {
      readonly [claim: string]: unknown;
    };
    const now = Date.now() / 1_000;
    const times = [iat, exp].map(Number);
    const [from = 0, to = 0] = times;
    return iss === email && sub === email && asked === scope && from <= now + 60 && now < to && to - from <= 3_600;
  }

  #upload(
    method: string,
    query: URLSearchParams,
    { headers, body }: { readonly headers: IncomingMessage['headers']; readonly body: Buffer },
    response: ServerResponse,
  ): void {
    const id = query.get('upload_id');
    if (id === null) return this.#begin(query, body, response);
    const upload = this.#uploads.get(id);
    if (upload === undefined) return refuse(response, 410, 'gone', 'The upload is gone.');
    if (method === 'DELETE') {
      this.#uploads.delete(id);
      return void response.writeHead(499).end();
    }
    const [, first, last, total] = /^bytes (?:(\d+)-(\d+)|\*)\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
    if (total === undefined) return refuse(response, 400, 'invalid', 'Invalid Content-Range');
    if (first !== undefined) {
      if (Number(first) !== upload.bytes.length || Number(last) - Number(first) + 1 !== body.length)
        return refuse(response, 400, 'invalid', 'The range does not follow what is there.');
      if (total === '*' && body.length % granule !== 0)
        return refuse(response, 400, 'invalid', 'A chunk must have whole 256 KiB.');
      const kept = this.faults.keepOfNextChunk;
      this.faults.keepOfNextChunk = undefined;
      upload.bytes = Buffer.concat([upload.bytes, body.subarray(0, kept)]);
      if (kept !== undefined) return void response.socket?.destroy();
    }
    if (total === '*' || upload.bytes.length !== Number(total)) return goOn(response, upload.bytes.length);
    return this.#end(id, upload, response);
  }

  #begin(query: URLSearchParams, body: Buffer, response: ServerResponse): void {
    const { storageClass = 'STANDARD' } = JSON.parse(body.toString()) as { readonly storageClass?: string };
    if (!['STANDARD', 'NEARLINE', 'COLDLINE', 'ARCHIVE'].includes(storageClass))
      return refuse(response, 400, 'invalid', 'Invalid storage class');
    const id = randomBytes(8).toString('hex');
    const ifAbsent = query.get('ifGenerationMatch') === '0';
    this.#uploads.set(id, { name: query.get('name') ?? '', storageClass, ifAbsent, bytes: Buffer.alloc(0) });
    const location = `${this.endpoint}/upload/storage/v1/b/${this.#bucket}/o?uploadType=resumable&upload_id=${id}`;
    response.writeHead(200, { location }).end();
  }

  #end(id: string, { name, storageClass, ifAbsent, bytes }: Upload, response: ServerResponse): void {
    const before = this.objects.get(name);
    // A repetition of the end of an upload has the same answer.
    if (ifAbsent && before !== undefined && before.generation !== id)
      return refuse(response, 412, 'conditionNotMet', 'At least one of the pre-conditions did not hold.');
    const stored = this.faults.damageNext ? Buffer.from(bytes).fill(1, 0, 1) : bytes;
    this.faults.damageNext = false;
    this.objects.set(name, { bytes: stored, generation: id, storageClass, created: new Date() });
    if (this.faults.loseLastAnswer) {
      this.faults.loseLastAnswer = false;
      return void response.socket?.destroy();
    }
    const md5Hash = createHash('md5').update(stored).digest('base64');
    return answer(response, { name, size: String(stored.length), md5Hash, generation: id });
  }

  #list(query: URLSearchParams, response: ServerResponse): void {
    const names = [...this.objects.keys()].filter((name) => name.startsWith(query.get('prefix') ?? '')).toSorted();
    const from = Number(query.get('pageToken') ?? 0);
    // Pages are short, so that each test reads several.
    const items = names.slice(from, from + 2).map((name) => {
      const { bytes, created } = this.objects.get(name) as StoredObject;
      return { name, size: String(bytes.length), timeCreated: created.toISOString() };
    });
    const more = from + 2 < names.length && { nextPageToken: String(from + 2) };
    return answer(response, { ...(items.length > 0 && { items }), ...more });
  }

  #object(
    method: string,
    name: string,
    { searchParams, range }: { readonly searchParams: URLSearchParams; readonly range: string | undefined },
    response: ServerResponse,
  ): void {
    const found = this.objects.get(name);
    if (found === undefined) {
      const message = `No such object: ${this.#bucket}/${name}`;
      if (searchParams.get('alt') === 'media') return void response.writeHead(404).end(message);
      return refuse(response, 404, 'notFound', message);
    }
    const { bytes, generation } = found;
    const condition = searchParams.get('ifGenerationMatch');
    if (condition !== null && condition !== generation)
      return refuse(response, 412, 'conditionNotMet', 'At least one of the pre-conditions did not hold.');
    if (method === 'DELETE') {
      this.objects.delete(name);
      return void response.writeHead(204).end();
    }
    if (searchParams.get('alt') !== 'media') return answer(response, { name, size: String(bytes.length) });
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
    if (first === undefined) return void response.writeHead(200).end(bytes);
    if (Number(first) >= bytes.length)
      return void response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end('Range not satisfiable');
    const part = bytes.subarray(Number(first), Number(last) + 1);
    response.writeHead(206, {
      'content-length': part.length,
      'content-range': `bytes ${first}-${Number(first) + part.length - 1}/${bytes.length}`,
      'x-goog-generation': generation,
    });
    const cut = this.faults.cutNextRead;
    this.faults.cutNextRead = undefined;
    if (cut === undefined) response.end(part);
    else response.write(part.subarray(0, cut), () => response.destroy());
  }
}

function goOn(response: ServerResponse, kept: number): void {
  response.writeHead(308, kept === 0 ? {} : { range: `bytes=0-${kept - 1}` }).end();
}

function answer(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function refuse(response: ServerResponse, code: number, reason: string, message: string): void {
  const error = { code, message, errors: [{ reason, message }] };
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
}
