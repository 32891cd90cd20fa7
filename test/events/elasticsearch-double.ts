import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Document {
  readonly id: string;
  readonly source: unknown;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

/**
 * A strict double of Elasticsearch 8 and OpenSearch: basic authentication, no index by itself, ids of at most 512 bytes, JSON alone.
 *
 * @see https://www.elastic.co/docs/api/doc/elasticsearch/group/endpoint-document
 */
export class ElasticsearchDouble {
  readonly indices = new Map<string, Document[]>();
  readonly #authorization: string;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  constructor(user: string, password: string) {
    this.#authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { status, body } = this.#answer(request, Buffer.concat(chunks).toString());
    const text = body === undefined ? '' : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    response.end(request.method === 'HEAD' ? undefined : text);
  }

  #answer({ headers, url = '', method = '' }: IncomingMessage, body: string): Answer {
    if (headers.authorization !== this.#authorization) return failed(401, 'unable to authenticate user');
    const [, index = '', kind, id, ...rest] = url.split('/').map(decodeURIComponent);
    if (kind === undefined) return this.#ofIndex(method, index);
    const documents = this.indices.get(index);
    if (documents === undefined) return failed(404, `no such index [${index}]`);
    if (kind !== '_doc' || rest.length > 0) return failed(400, 'no handler found');
    const others = documents.filter((document) => document.id !== id);
    if (method === 'DELETE') {
      this.indices.set(index, others);
      const isThere = others.length < documents.length;
      return { status: isThere ? 200 : 404, body: { result: isThere ? 'deleted' : 'not_found' } };
    }
    if (headers['content-type'] !== 'application/json') return failed(406, 'Content-Type header is not supported');
    if (Buffer.byteLength(id ?? '') > 512) return failed(400, 'id is too long, must be no longer than 512 bytes');
    if (method !== (id === undefined ? 'POST' : 'PUT')) return failed(405, `no handler for ${method}`);
    if (body.includes('unparsable')) return failed(400, 'failed to parse field [number]');
    this.indices.set(index, [...others, { id: id ?? `made-${documents.length}`, source: JSON.parse(body) as unknown }]);
    return { status: 201, body: { result: 'created' } };
  }

  #ofIndex(method: string, index: string): Answer {
    const isThere = this.indices.has(index);
    if (method === 'HEAD') return { status: isThere ? 200 : 404 };
    if (index === 'refused') return failed(400, 'invalid index name');
    if (method !== 'PUT') return failed(405, `no handler for ${method}`);
    if (isThere) return failed(400, 'already exists', 'resource_already_exists_exception');
    this.indices.set(index, []);
    return { status: 200, body: { acknowledged: true } };
  }
}

function failed(status: number, reason: string, type = 'exception'): Answer {
  return { status, body: { error: { type, reason }, status } };
}
