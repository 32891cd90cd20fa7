import { KubeError, type KubeObject, type ResourceType } from '../../../operator/kube-client/kube-api.ts';
import type { Cluster } from '../../../operator/plugin/cluster.ts';
import type { Json } from '../../../operator/contract/workload.ts';

interface Patched {
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly patch: Json;
}

/** What the kubectl plugin sees of a cluster: these objects and logs. It answers pages of two, and keeps what was patched. */
export class ClusterOfObjects implements Cluster {
  readonly patches: Patched[] = [];
  /** By plural: how lists of it are refused. */
  readonly refusals = new Map<string, KubeError>();
  /** By `NAMESPACE/POD`, `NAMESPACE/POD previous`. */
  readonly logs = new Map<string, string>();
  readonly #objects: readonly KubeObject[];

  constructor(objects: readonly KubeObject[]) {
    this.#objects = objects;
  }

  get: Cluster['get'] = (type, namespace, name) =>
    Promise.resolve(this.#of(type, namespace).find(({ metadata }) => metadata.name === name));

  list: Cluster['list'] = (type, { namespace, labelSelector, continue: next = '0' }) => {
    const refusal = this.refusals.get(type.plural);
    if (refusal !== undefined) return Promise.reject(refusal);
    const [label = '', value] = (labelSelector ?? '').split('=');
    const all = this.#of(type, namespace).filter(
      ({ metadata }) => labelSelector === undefined || metadata.labels?.[label] === value,
    );
    const end = Number(next) + 2;
    return Promise.resolve({
      items: all.slice(Number(next), end),
      resourceVersion: '1',
      ...(end < all.length ? { continue: String(end) } : {}),
    });
  };

  patch: Cluster['patch'] = (type, namespace, name, patch) => {
    const object = this.#of(type, namespace).find(({ metadata }) => metadata.name === name);
    if (object === undefined) return Promise.reject(new KubeError(404, 'NotFound', `${name} not found`));
    this.patches.push({ kind: type.kind, namespace, name, patch });
    return Promise.resolve(object);
  };

  log: Cluster['log'] = (namespace, pod, { previous = false } = {}) => {
    const text = this.logs.get(`${namespace}/${pod}${previous ? ' previous' : ''}`);
    return text === undefined
      ? Promise.reject(new KubeError(404, 'NotFound', 'container is waiting to start'))
      : Promise.resolve(text);
  };

  #of(type: ResourceType, namespace: string | undefined): readonly KubeObject[] {
    return this.#objects.filter(
      ({ kind, metadata }) => kind === type.kind && (namespace === undefined || metadata.namespace === namespace),
    );
  }
}
