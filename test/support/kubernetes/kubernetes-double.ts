import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KubeObject } from '../../../operator/kube-client/kube-api.ts';
import { isObject, type ApiObject, type JsonObject } from './api-object.ts';
import { Faults, type ApiRequest, RequestCounts } from './faults.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { HttpApi } from './http-api.ts';
import { Kubelet } from './kubelet.ts';
import { ObjectStore } from './object-store.ts';
import { type DeletionOptions, Operations } from './operations.ts';
import { wellBehaved, type Behave } from './pod-status.ts';
import { hasStatus, isClusterScoped, resourceOf } from './resource-types.ts';
import { StatefulSetController } from './stateful-set-controller.ts';

/** A server on a port of 127.0.0.1 that it keeps: it can go down and come back at the same. */
class Listener {
  readonly #serve: (request: IncomingMessage, response: ServerResponse) => void;
  #server: Server | undefined;
  #port = 0;

  constructor(serve: (request: IncomingMessage, response: ServerResponse) => void) {
    this.#serve = serve;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<void> {
    const server = createServer({ keepAliveTimeout: 60_000 }, this.#serve);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Every open connection is cut. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    server.closeAllConnections();
    await closed;
  }
}

export interface KubernetesDoubleOptions {
  /** Bearer token that requests must carry; `test-token` without it. */
  readonly token?: string;
  /** Made at the start, beside `default`. */
  readonly namespaces?: readonly string[];
  /** A StatefulSet controller and a kubelet, so that pods come and go; true without it. */
  readonly simulatePods?: boolean;
  /** Changes that a watch can start from; older ones are 410. 10,000 without it. */
  readonly history?: number;
  /** Milliseconds between bookmarks, about a minute on a real server; 1,000 without it. */
  readonly bookmarkMs?: number;
  /** `servicemonitors.monitoring.coreos.com`: types that this cluster has not heard of. */
  readonly absentResources?: readonly string[];
  /** Whether the bearer of the token may do this, by the verbs of RBAC; everything without it. */
  readonly permits?: (request: ApiRequest) => boolean;
  /** End of pods of component `provider-check`; exit code 0 and an empty message without it. Can be set later too. */
  readonly providerCheck?: ProviderCheck;
}

export type ProviderCheck = (pod: KubeObject) => { readonly exitCode: number; readonly message: string };

/** The manager of what a test puts. */
const person = 'kubectl';

/**
 * An API server of this process on 127.0.0.1, with the controllers that the operator relies on: garbage collector, namespaces,
 * StatefulSets, and a kubelet whose pods behave as the test says.
 *
 * The methods here look and change from inside: they are neither counted nor hit by faults, and every watch sees what they change.
 */
export class KubernetesDouble {
  readonly faults = new Faults();
  readonly requests = new RequestCounts();
  readonly token: string;
  providerCheck: ProviderCheck;
  /** End of pods of component `keystore-check`, which pass unless a test says otherwise. */
  keystoreCheck: ProviderCheck = () => ({ exitCode: 0, message: '' });
  readonly #store: ObjectStore;
  readonly #operations: Operations;
  readonly #api: HttpApi;
  readonly #listener: Listener;
  readonly #kubelet: Kubelet | undefined;
  readonly #controllers: readonly { stop(): void }[];

  private constructor(options: KubernetesDoubleOptions) {
    this.token = options.token ?? 'test-token';
    this.providerCheck = options.providerCheck ?? (() => ({ exitCode: 0, message: '' }));
    this.#store = new ObjectStore(options.history ?? 10_000);
    this.#operations = new Operations(this.#store);
    this.#api = new HttpApi(this.#store, this.#operations, {
      token: this.token,
      bookmarkMs: options.bookmarkMs ?? 1_000,
      faults: this.faults,
      requests: this.requests,
      absentResources: new Set(options.absentResources),
      permits: options.permits ?? (() => true),
    });
    this.#listener = new Listener((request, response) => void this.#api.serve(request, response));
    const simulated = options.simulatePods ?? true;
    this.#kubelet = simulated ? new Kubelet(this.#store) : undefined;
    this.#controllers = [
      new GarbageCollector(this.#store, this.#operations),
      ...(simulated ? [new StatefulSetController(this.#store, this.#operations)] : []),
      ...(this.#kubelet === undefined ? [] : [this.#kubelet]),
    ];
    this.behave(wellBehaved);
    for (const name of ['default', ...(options.namespaces ?? [])]) {
      this.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
  }

  static async start(options: KubernetesDoubleOptions = {}): Promise<KubernetesDouble> {
    const double = new KubernetesDouble(options);
    await double.#listener.open();
    return double;
  }

  /** Changes every object that is written from now on, as an admission policy does. `resource` is `statefulsets.apps`. */
  mutate(change: (resource: string, object: ApiObject) => ApiObject): void {
    this.#operations.mutate = change;
  }

  /** `http://127.0.0.1:PORT`; stays the same through an outage. */
  get url(): string {
    return this.#listener.url;
  }

  /** Text of a kubeconfig file for the server: JSON, which is YAML. */
  get kubeConfig(): string {
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'double',
      clusters: [{ name: 'double', cluster: { server: this.url } }],
      users: [{ name: 'operator', user: { token: this.token } }],
      contexts: [{ name: 'double', context: { cluster: 'double', user: 'operator' } }],
    });
  }

  /** `resource` as in `kubectl get`: `pods`, `statefulsets.apps`, `tenants.coffer.dev`. */
  get(resource: string, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#store.get(resource, namespace, name);
  }

  /** Sorted by namespace and name. */
  list(resource: string, namespace?: string): readonly KubeObject[] {
    return this.#store.list(resource, namespace);
  }

  /** Creates the object, or updates all but its status, as `kubectl apply` by a person: what it does not name any more goes. Validates. */
  put(object: object): KubeObject {
    const { target, body } = targetOf(object);
    const manager = { name: person, subresource: undefined };
    return this.#operations.apply(target, body, manager, true);
  }

  /** As `put`, on the status. */
  putStatus(object: object): KubeObject {
    const { target, body } = targetOf(object);
    if (!hasStatus(target.resource)) throw new Error(`${target.resource} have no status`);
    return this.#operations.apply(target, body, { name: person, subresource: 'status' }, true);
  }

  delete(resource: string, namespace: string | undefined, name: string, options: DeletionOptions = {}): void {
    this.#operations.delete({ resource, namespace, name }, options);
  }

  /** As a drain asks. Errors where a disruption budget forbids it now. */
  evict(namespace: string, pod: string): void {
    this.#operations.evict({ resource: 'pods', namespace, name: pod }, {});
  }

  /** What pods do from now on, those that run too. Pods of checks end as `providerCheck` and `keystoreCheck` say. */
  behave(behave: Behave): void {
    if (this.#kubelet === undefined) return;
    this.#kubelet.behave = (pod) => {
      const component = pod.metadata.labels?.['app.kubernetes.io/component'];
      if (component === 'provider-check') return { kind: 'completed', ...this.providerCheck(pod) };
      if (component === 'keystore-check') return { kind: 'completed', ...this.keystoreCheck(pod) };
      return behave(pod);
    };
    this.#kubelet.lookAtAll();
  }

  /** Pods that match keep running after their deletion, until this is set otherwise. */
  holdTermination(matches: (pod: KubeObject) => boolean): void {
    if (this.#kubelet === undefined) return;
    this.#kubelet.holdsTermination = matches;
    this.#kubelet.lookAtAll();
  }

  /** Every change of an object, in order, as a watch without delay sees it. Answers a function that ends it. */
  onChange(listener: (before: KubeObject | undefined, after: KubeObject | undefined) => void): () => void {
    return this.#store.onChange(({ before, after }) => {
      listener(before, after);
    });
  }

  /** Resolves when the condition holds; it is asked after every change, and every 50 ms. Errors after `timeoutMs`. */
  async until(holds: () => boolean, what: string, timeoutMs = 60_000): Promise<void> {
    if (holds()) return;
    const held = Promise.withResolvers<void>();
    const ask = (): void => {
      try {
        if (holds()) held.resolve();
      } catch (error) {
        held.reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    let asked: NodeJS.Immediate | undefined;
    const stop = this.#store.onChange(() => {
      asked ??= setImmediate(() => {
        asked = undefined;
        ask();
      });
    });
    const again = setInterval(ask, 50);
    const late = setTimeout(() => held.reject(new Error(`not within ${timeoutMs} ms: ${what}`)), timeoutMs);
    try {
      await held.promise;
    } finally {
      stop();
      clearInterval(again);
      clearTimeout(late);
      if (asked !== undefined) clearImmediate(asked);
    }
  }

  /** Watches from any earlier version, and pages of any earlier list, are 410 from now on. */
  compact(): void {
    this.#store.compact();
    this.#api.pages.expire();
  }

  /** Nothing listens, and every connection is cut, until `comeBack`. */
  goDown(): Promise<void> {
    return this.#listener.close();
  }

  comeBack(): Promise<void> {
    return this.#listener.open();
  }

  async stop(): Promise<void> {
    for (const controller of this.#controllers) controller.stop();
    await this.#listener.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

function targetOf(object: object): {
  target: { resource: string; namespace: string | undefined; name: string };
  body: JsonObject;
} {
  const { apiVersion, kind, metadata } = object as Pick<ApiObject, 'apiVersion' | 'kind' | 'metadata'>;
  const resource = resourceOf({ apiVersion, kind });
  if (!isObject(metadata)) throw new Error(`${kind} has no metadata`);
  const namespace = isClusterScoped(resource) ? undefined : (metadata.namespace ?? 'default');
  const body = { ...object, metadata: { ...metadata, ...(namespace === undefined ? {} : { namespace }) } };
  return { target: { resource, namespace, name: metadata.name }, body: structuredClone(body) as JsonObject };
}
