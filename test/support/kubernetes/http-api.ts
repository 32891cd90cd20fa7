import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import { ApiError, isObject, type JsonObject } from './api-object.ts';
import type { ApiRequest, Faults, Verb, RequestCounts } from './faults.ts';
import { ListPages, textOf, WatchStream } from './watch-stream.ts';
import type { ObjectStore } from './object-store.ts';
import type { Operations, DeletionOptions } from './operations.ts';
import { hasStatus, parsePath, type ResourcePath } from './resource-types.ts';
import { fieldSelector, labelSelector, type Selector } from './selectors.ts';

interface HttpApiOptions {
  readonly token: string;
  readonly bookmarkMs: number;
  readonly faults: Faults;
  readonly requests: RequestCounts;
  readonly absentResources: ReadonlySet<string>;
  readonly permits: (request: ApiRequest) => boolean;
}

/** HTTP in, operations, HTTP out. @see https://kubernetes.io/docs/reference/using-api/api-concepts/ */
export class HttpApi {
  readonly pages = new ListPages();
  readonly #store: ObjectStore;
  readonly #operations: Operations;
  readonly #options: HttpApiOptions;

  constructor(store: ObjectStore, operations: Operations, options: HttpApiOptions) {
    this.#store = store;
    this.#operations = operations;
    this.#options = options;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#serve(request, response);
    } catch (error) {
      if (response.headersSent || response.destroyed) response.destroy();
      else if (error instanceof ApiError) sendError(response, error);
      else sendError(response, new ApiError(500, 'InternalError', String(error)));
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (request.headers.authorization !== `Bearer ${this.#options.token}`) {
      throw new ApiError(401, 'Unauthorized', 'Unauthorized');
    }
    if (['/readyz', '/livez', '/healthz'].includes(url.pathname)) return void response.end('ok');
    if (url.pathname === '/version') return send(response, 200, { major: '1', minor: '34', gitVersion: 'v1.34.0' });
    const path = parsePath(url.pathname);
    if (path === undefined || this.#options.absentResources.has(path.resource)) {
      throw new ApiError(404, 'NotFound', 'the server could not find the requested resource');
    }
    const verb = verbOf(request, path, url);
    const body = await bodyOf(request, verb);
    const told = requestOf(verb, path);
    this.#options.requests.add(told);
    this.#authorize(told);
    const fault = this.#options.faults.take(told);
    switch (fault?.kind) {
      case 'status':
        throw new ApiError(fault.status, fault.reason, 'a fault of the test', [], fault.retryAfterSeconds);
      case 'reset':
        request.socket.resetAndDestroy();
        return;
      case 'error-event':
        return WatchStream.fail(response, fault.status, fault.reason);
      case 'lost-answer':
        this.#answer(verb, path, url, request, body);
        request.socket.resetAndDestroy();
        return;
      case undefined:
    }
    if (verb === 'watch') return this.#watch(path, url, response);
    const { status, answer } = this.#answer(verb, path, url, request, body);
    send(response, status, answer);
  }

  /** As RBAC: an apply that makes the object needs `create` too. */
  #authorize(request: ApiRequest): void {
    const { verb, resource, namespace, name } = request;
    const exists = name !== undefined && this.#store.get(resource, namespace, name) !== undefined;
    const makes = verb === 'apply' && !resource.includes('/') && !exists;
    const needed: readonly Verb[] = verb === 'apply' ? (makes ? ['patch', 'create'] : ['patch']) : [verb];
    const rejected = needed.find((need) => !this.#options.permits({ ...request, verb: need }));
    if (rejected === undefined) return;
    throw new ApiError(
      403,
      'Forbidden',
      `${resource} is forbidden: User "operator" cannot ${rejected} resource "${resource}"`,
    );
  }

  #answer(
    verb: Verb,
    path: ResourcePath,
    url: URL,
    request: IncomingMessage,
    body: JsonObject,
  ): { status: number; answer: unknown } {
    const { resource, namespace, name, subresource } = path;
    if (name === undefined) return this.#answerCollection(verb, path, url, request, body);
    if (subresource === 'eviction' && verb === 'create') {
      this.#operations.evict({ resource, namespace, name }, deletionOptions(body['deleteOptions']));
      return { status: 201, answer: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } };
    }
    if (subresource !== undefined && (subresource !== 'status' || !hasStatus(resource))) {
      throw new ApiError(404, 'NotFound', `the server could not find the requested resource: ${subresource}`);
    }
    const target = { resource, namespace, name };
    const manager = { name: managerOf(request, url), subresource };
    switch (verb) {
      case 'get':
        return { status: 200, answer: this.#operations.get(target) };
      case 'update':
        return { status: 200, answer: this.#operations.update(target, body, manager) };
      case 'patch':
        return { status: 200, answer: this.#operations.mergePatch(target, body, manager) };
      case 'apply': {
        if (!url.searchParams.has('fieldManager'))
          throw ApiError.badRequest('fieldManager is required for apply patch');
        const existed = this.#store.get(resource, namespace, name) !== undefined;
        const applied = this.#operations.apply(target, body, manager, url.searchParams.get('force') === 'true');
        return { status: existed ? 200 : 201, answer: applied };
      }
      case 'delete':
        return { status: 200, answer: this.#operations.delete(target, deletionOptions(body)) };
      case 'create':
      case 'list':
      case 'watch':
      case 'deletecollection':
        throw new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
    }
  }

  #answerCollection(
    verb: Verb,
    path: ResourcePath,
    url: URL,
    request: IncomingMessage,
    body: JsonObject,
  ): { status: number; answer: unknown } {
    const { resource, namespace } = path;
    switch (verb) {
      case 'create': {
        const manager = { name: managerOf(request, url), subresource: undefined };
        return { status: 201, answer: this.#operations.create(resource, namespace, body, manager) };
      }
      case 'list':
        return { status: 200, answer: this.#list(path, url) };
      case 'deletecollection': {
        const items = this.#store.list(resource, namespace).filter(selectorOf(url));
        for (const { metadata } of items) {
          this.#operations.delete(
            { resource, namespace: metadata.namespace, name: metadata.name },
            deletionOptions(body),
          );
        }
        return { status: 200, answer: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' } };
      }
      case 'get':
      case 'watch':
      case 'update':
      case 'patch':
      case 'apply':
      case 'delete':
        throw new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
    }
  }

  #list(path: ResourcePath, url: URL): Raw {
    const limit = Number(url.searchParams.get('limit') ?? 0);
    const token = url.searchParams.get('continue');
    const page =
      token !== null && token !== ''
        ? this.pages.next(token, limit)
        : this.pages.first(
            this.#store.list(path.resource, path.namespace).filter(selectorOf(url)),
            this.#store.version,
            limit,
          );
    const metadata = {
      resourceVersion: String(page.version),
      ...(page.continue === undefined ? {} : { continue: page.continue, remainingItemCount: page.remaining }),
    };
    const kind = `${this.#kindOf(path)}List`;
    const head = JSON.stringify({ kind, apiVersion: path.apiVersion, metadata });
    return new Raw(`${head.slice(0, -1)},"items":[${page.items.map(textOf).join(',')}]}`);
  }

  #watch(path: ResourcePath, url: URL, response: ServerResponse): void {
    const version = url.searchParams.get('resourceVersion') ?? '';
    const stream = new WatchStream(
      response,
      {
        resource: path.resource,
        apiVersion: path.apiVersion,
        kind: this.#kindOf(path),
        namespace: path.namespace,
        selects: selectorOf(url),
        since: version === '' || version === '0' ? undefined : Number(version),
        // A real server has no watch cache of events, which makes the bookmarks.
        bookmarks: path.plural !== 'events' && url.searchParams.get('allowWatchBookmarks') === 'true',
        timeoutMs: Number(url.searchParams.get('timeoutSeconds') ?? 1800) * 1000,
      },
      this.#store,
      this.#options.faults,
    );
    stream.start(this.#options.bookmarkMs);
  }

  #kindOf({ resource, plural }: ResourcePath): string {
    return (
      this.#store.list(resource)[0]?.kind ??
      `${plural[0]?.toUpperCase()}${plural.slice(1).replace(/ies$/, 'y').replace(/s$/, '')}`
    );
  }
}

/** JSON that is text already. */
class Raw {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

function requestOf(verb: Verb, { resource, subresource, namespace, name }: ResourcePath): ApiRequest {
  return { verb, resource: subresource === undefined ? resource : `${resource}/${subresource}`, namespace, name };
}

function verbOf(request: IncomingMessage, { name }: ResourcePath, url: URL): Verb {
  const watch = ['true', '1'].includes(url.searchParams.get('watch') ?? '');
  const verbs: Readonly<Record<string, Verb>> = {
    GET: name !== undefined ? 'get' : watch ? 'watch' : 'list',
    POST: 'create',
    PUT: 'update',
    DELETE: name === undefined ? 'deletecollection' : 'delete',
  };
  const { method = '' } = request;
  const verb = method === 'PATCH' ? patchVerb(request.headers['content-type']) : verbs[method];
  if (verb === undefined) throw new ApiError(405, 'MethodNotAllowed', `${request.method} is not allowed`);
  return verb;
}

function patchVerb(contentType: string | undefined): Verb {
  if (contentType?.startsWith('application/apply-patch+yaml') === true) return 'apply';
  if (contentType?.startsWith('application/merge-patch+json') === true) return 'patch';
  throw new ApiError(415, 'UnsupportedMediaType', `the body of the request was in an unknown format: ${contentType}`);
}

async function bodyOf(request: IncomingMessage, verb: Verb): Promise<JsonObject> {
  const content = await text(request);
  if (content === '') return {};
  if (content.length > 3 * 1024 * 1024) throw new ApiError(413, 'RequestEntityTooLarge', 'limit is 3145728');
  let body: unknown;
  try {
    body = verb === 'apply' && !content.startsWith('{') ? parse(content) : JSON.parse(content);
  } catch (error) {
    throw ApiError.badRequest(`couldn't get version/kind; json parse error: ${String(error)}`);
  }
  if (!isObject(body)) throw ApiError.badRequest('the body is no object');
  return body;
}

function managerOf(request: IncomingMessage, url: URL): string {
  return url.searchParams.get('fieldManager') ?? request.headers['user-agent']?.split('/')[0] ?? 'unknown';
}

function deletionOptions(body: unknown): DeletionOptions {
  return isObject(body) ? body : {};
}

function selectorOf(url: URL): Selector {
  const [labels, fields] = [url.searchParams.get('labelSelector'), url.searchParams.get('fieldSelector')];
  const selectors: Selector[] = [];
  if (labels !== null && labels !== '') selectors.push(labelSelector(labels));
  if (fields !== null && fields !== '') selectors.push(fieldSelector(fields));
  return (object) => selectors.every((selects) => selects(object));
}

function send(response: ServerResponse, status: number, answer: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(answer instanceof Raw ? answer.json : JSON.stringify(answer));
}

function sendError(response: ServerResponse, error: ApiError): void {
  const retry = error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) };
  response.writeHead(error.code, { 'content-type': 'application/json', ...retry });
  response.end(JSON.stringify(error.status));
}
