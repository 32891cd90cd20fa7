import type { KubeObject } from '../../../operator/kube/kube-api.ts';
import { Faults } from './faults.ts';
import type { Behave } from './pod-behaviour.ts';
import { RequestCounts } from './request-counts.ts';

export interface KubernetesDoubleOptions {
  /** Bearer token that requests must carry; `test-token` without it. */
  readonly token?: string;
  /** Made at the start, beside `default`. */
  readonly namespaces?: readonly string[];
  /** A StatefulSet controller and a kubelet, so that pods come and go; true without it. */
  readonly simulatePods?: boolean;
  /** Changes that a watch can start from; older ones are 410. 10,000 without it. */
  readonly history?: number;
  /** Milliseconds between bookmarks; 200 without it. */
  readonly bookmarkMs?: number;
  /** Termination message of pods of component `provider-check`; an empty one without it. */
  readonly providerCheck?: (pod: KubeObject) => { readonly exitCode: number; readonly message: string };
}

/**
 * An API server of this process on 127.0.0.1, with the controllers that the operator relies on: garbage collector, namespaces,
 * StatefulSets, and a kubelet whose pods behave as the test says.
 *
 * The methods here look and change from inside: they are neither counted nor hit by faults, and every watch sees what they change.
 */
export class KubernetesDouble {
  readonly faults = new Faults();
  readonly requests = new RequestCounts();
  /** `http://127.0.0.1:PORT`; stays the same through an outage. */
  readonly url: string = '';
  readonly token: string = '';

  static start(_options: KubernetesDoubleOptions = {}): Promise<KubernetesDouble> {
    throw new Error('to be written');
  }

  /** Text of a kubeconfig file for the server: JSON, which is YAML. */
  get kubeConfig(): string {
    throw new Error('to be written');
  }

  /** `resource` as in `kubectl get`: `pods`, `statefulsets.apps`, `tenants.coffer.dev`. */
  get(_resource: string, _namespace: string | undefined, _name: string): KubeObject | undefined {
    throw new Error('to be written');
  }

  /** Sorted by namespace and name. */
  list(_resource: string, _namespace?: string): readonly KubeObject[] {
    throw new Error('to be written');
  }

  /** Creates the object, or updates its spec, labels and the like, as `kubectl apply` by a person. Validates. */
  put(_object: object): KubeObject {
    throw new Error('to be written');
  }

  /** As `put`, on the status. */
  putStatus(_object: object): KubeObject {
    throw new Error('to be written');
  }

  delete(_resource: string, _namespace: string | undefined, _name: string): void {
    throw new Error('to be written');
  }

  /** What pods do from now on, those that run too. */
  behave(_behave: Behave): void {
    throw new Error('to be written');
  }

  /** Pods that match keep running after their deletion, until this is set otherwise. */
  holdTermination(_matches: (pod: KubeObject) => boolean): void {
    throw new Error('to be written');
  }

  /** Every change of an object, in order, as a watch without delay sees it. Answers a function that ends it. */
  onChange(_listener: (before: KubeObject | undefined, after: KubeObject | undefined) => void): () => void {
    throw new Error('to be written');
  }

  /** Resolves when the condition holds; it is asked after every change, and every 50 ms. Errors after `timeoutMs`, 20,000 without it. */
  until(_holds: () => boolean, _what: string, _timeoutMs?: number): Promise<void> {
    throw new Error('to be written');
  }

  /** Nothing listens, and every connection is reset, until `comeBack`. */
  goDown(): Promise<void> {
    throw new Error('to be written');
  }

  comeBack(): Promise<void> {
    throw new Error('to be written');
  }

  stop(): Promise<void> {
    throw new Error('to be written');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
