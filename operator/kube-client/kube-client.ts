import type { Json } from '../contract/workload.ts';
import type { Connection } from './connection.ts';
import { HttpTransport, type Call } from './http-transport.ts';
import {
  isNotFound,
  KubeError,
  watchInactivityMs,
  type DeleteOptions,
  type KubeApi,
  type KubeList,
  type KubeObject,
  type ListOptions,
  type ResourceType,
  type WatchEvent,
  type WatchOptions,
} from './kube-api.ts';
import { LineSplitter, watchError } from './response.ts';
import { resourcePath, typeOf } from './resource-types.ts';

export interface KubeClientOptions {
  /** Owner of the applied fields; `coffer-operator` by default. */
  readonly fieldManager?: string;
  readonly userAgent?: string;
  /** Milliseconds for a whole call that is no watch; 30 s by default. */
  readonly timeoutMs?: number;
  /** Milliseconds without a byte after which a watch is dead; 150 s by default. */
  readonly watchInactivityMs?: number;
}

export interface LogOptions {
  readonly container?: string;
  readonly tailLines?: number;
  /** Reads the log of the container before its last restart. */
  readonly previous?: boolean;
}

/** A client of the Kubernetes API: plain JSON over Node's HTTP. */
export class KubeClient implements KubeApi {
  readonly #http: HttpTransport;
  readonly #fieldManager: string;
  readonly #timeoutMs: number;
  readonly #watchInactivityMs: number;

  constructor(connection: Connection, options: KubeClientOptions = {}) {
    this.#fieldManager = options.fieldManager ?? 'coffer-operator';
    this.#http = new HttpTransport(connection, options.userAgent ?? this.#fieldManager);
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#watchInactivityMs = options.watchInactivityMs ?? watchInactivityMs;
  }

  async get(type: ResourceType, namespace: string | undefined, name: string): Promise<KubeObject | undefined> {
    try {
      return await this.#object({ method: 'GET', path: resourcePath(type, { namespace, name }) });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async list(type: ResourceType, options: ListOptions): Promise<KubeList> {
    const { namespace, labelSelector, fieldSelector, limit, signal } = options;
    const answer = await this.#json({
      method: 'GET',
      path: resourcePath(type, { namespace }),
      query: { labelSelector, fieldSelector, limit: limit?.toString(), continue: options.continue },
      signal,
    });
    const { items, metadata } = answer as {
      readonly items?: readonly KubeObject[] | null;
      readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
    };
    const more = metadata?.continue ?? '';
    return {
      // The server leaves the type out of the items of built-in types.
      items: (items ?? []).map((item) => ({ ...item, apiVersion: type.apiVersion, kind: type.kind })),
      resourceVersion: metadata?.resourceVersion ?? '',
      ...(more === '' ? {} : { continue: more }),
    };
  }

  async *watch(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent> {
    const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, signal } = options;
    const path = resourcePath(type, { namespace });
    const lines = new LineSplitter();
    const stream = this.#http.stream({
      method: 'GET',
      path,
      query: {
        watch: 'true',
        allowWatchBookmarks: 'true',
        labelSelector,
        fieldSelector,
        resourceVersion,
        timeoutSeconds: timeoutSeconds?.toString(),
      },
      timeoutMs: this.#watchInactivityMs,
      signal,
    });
    for await (const chunk of stream) {
      for (const line of lines.push(chunk)) {
        const event = watchEvent(`watch ${path}`, line);
        if (event !== undefined) yield event;
      }
    }
    // A line without its end was cut off. The next watch sends its event again.
  }

  create(object: KubeObject): Promise<KubeObject> {
    const { namespace } = object.metadata;
    return this.#object({
      method: 'POST',
      path: resourcePath(typeOf(object), { namespace }),
      query: { fieldManager: this.#fieldManager, fieldValidation: 'Strict' },
      body: object,
    });
  }

  apply(object: KubeObject): Promise<KubeObject> {
    return this.#apply(object);
  }

  applyStatus(object: KubeObject): Promise<KubeObject> {
    return this.#apply(object, 'status');
  }

  patch(type: ResourceType, namespace: string | undefined, name: string, patch: Json): Promise<KubeObject> {
    return this.#object({
      method: 'PATCH',
      path: resourcePath(type, { namespace, name }),
      query: { fieldManager: this.#fieldManager, fieldValidation: 'Strict' },
      contentType: 'application/merge-patch+json',
      body: patch,
    });
  }

  /** Replaces the whole object. Errors with `Conflict` when its `resourceVersion` is not the current one. */
  replace(object: KubeObject): Promise<KubeObject> {
    const { namespace, name } = object.metadata;
    return this.#object({
      method: 'PUT',
      path: resourcePath(typeOf(object), { namespace, name }),
      query: { fieldManager: this.#fieldManager },
      body: object,
    });
  }

  async delete(
    type: ResourceType,
    namespace: string | undefined,
    name: string,
    options: DeleteOptions = {},
  ): Promise<void> {
    const { uid, resourceVersion, ...rest } = options;
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
    try {
      await this.#call({
        method: 'DELETE',
        path: resourcePath(type, { namespace, name }),
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          ...rest,
          ...(Object.keys(preconditions).length > 0 && { preconditions }),
        },
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Evicts a pod. A PodDisruptionBudget that forbids it now errors with `TooManyRequests`. */
  async evict(namespace: string, pod: string): Promise<void> {
    await this.#call({
      method: 'POST',
      path: resourcePath(podType, { namespace, name: pod, subresource: 'eviction' }),
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name: pod } },
    });
  }

  /** Returns the log of a container. */
  log(namespace: string, pod: string, options: LogOptions = {}): Promise<string> {
    const { container, tailLines, previous } = options;
    return this.#call({
      method: 'GET',
      path: resourcePath(podType, { namespace, name: pod, subresource: 'log' }),
      query: { container, tailLines: tailLines?.toString(), previous: previous === true ? 'true' : undefined },
      accept: '*/*',
    });
  }

  /** `v1.33.2`. */
  async serverVersion(): Promise<string> {
    const { gitVersion } = (await this.#json({ method: 'GET', path: '/version' })) as { readonly gitVersion?: unknown };
    return typeof gitVersion === 'string' ? gitVersion : 'unknown';
  }

  /** Closes all connections; watches end with them. */
  close(): void {
    this.#http.close();
  }

  #apply(object: KubeObject, subresource?: string): Promise<KubeObject> {
    const { namespace, name } = object.metadata;
    return this.#object({
      method: 'PATCH',
      path: resourcePath(typeOf(object), { namespace, name, subresource }),
      // Strict: the server refuses an unknown field of a user's pod options by its name, instead of dropping it silently.
      query: { fieldManager: this.#fieldManager, force: 'true', fieldValidation: 'Strict' },
      // JSON is YAML.
      contentType: 'application/apply-patch+yaml',
      body: object,
    });
  }

  async #object(call: Omit<Call, 'timeoutMs'>): Promise<KubeObject> {
    return (await this.#json(call)) as KubeObject;
  }

  async #json(call: Omit<Call, 'timeoutMs'>): Promise<object> {
    return parseObject(`${call.method} ${call.path}`, await this.#call(call));
  }

  #call(call: Omit<Call, 'timeoutMs'>): Promise<string> {
    return this.#http.call({ ...call, timeoutMs: this.#timeoutMs });
  }
}

const podType: ResourceType = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

function watchEvent(what: string, line: string): WatchEvent | undefined {
  const { type, object } = parseObject(what, line) as { readonly type?: unknown; readonly object?: unknown };
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: object as KubeObject };
    case 'BOOKMARK':
      return { type, resourceVersion: (object as KubeObject).metadata.resourceVersion ?? '' };
    case 'ERROR':
      throw watchError(what, object);
    default:
      // A newer server may send kinds of events that this client does not know.
      return undefined;
  }
}

function parseObject(what: string, json: string): object {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    parsed = undefined;
  }
  if (typeof parsed === 'object' && parsed !== null) return parsed;
  throw new KubeError(undefined, 'MalformedAnswer', `${what}: the answer is no JSON object`);
}
