import { setTimeout as sleep } from 'node:timers/promises';
import {
  clusterPermissions,
  isPermitted,
  ownPermissions,
  watchedPermissions,
  type Verb,
} from '../../../operator/runtime/kubernetes/permissions.ts';
import type { ApiRequest } from '../kubernetes/faults.ts';
import type { KubernetesOperator, KubernetesOptions } from '../../../operator/runtime/kubernetes/start-kubernetes.ts';
import { resourceKinds } from '../../../operator/contract/workload.ts';
import { KubernetesDouble, type KubernetesDoubleOptions } from '../kubernetes/kubernetes-double.ts';
import { wellBehaved } from '../kubernetes/pod-status.ts';
import { quiet, type Manifest } from './manifests.ts';
import { startOperator, goodProvider } from './operator.ts';
import { condition, eventsOf, imageOf, isCurrent, podsOf, type Resource } from './read-cluster.ts';
import { watchHonesty, type Honesty } from './watch-honesty.ts';

/** What the Roles of the chart grant, which are made from the same list. */
export function permitted({ verb, resource }: ApiRequest): boolean {
  const [type = '', subresource] = resource.split('/');
  const [plural = ''] = type.split('.');
  return isPermitted([...watchedPermissions, ...clusterPermissions, ...ownPermissions], verb as Verb, {
    plural,
    ...(subresource === undefined ? {} : { subresource }),
  });
}

const kinds: ReadonlySet<string> = new Set(resourceKinds);

/** An operator of this process on an API server of this process, which grants it what the chart's Roles grant. */
export class Stage {
  readonly double: KubernetesDouble;
  readonly honesty: Honesty;
  /** What stores answer when they are asked whether they can spare a server. */
  storeStatus = 200;
  #operator: KubernetesOperator | undefined;

  private constructor(double: KubernetesDouble) {
    this.double = double;
    this.honesty = watchHonesty(double);
  }

  static async set(
    manifests: readonly Manifest[] = [],
    options: KubernetesDoubleOptions = {},
    operator: Partial<KubernetesOptions> = {},
  ): Promise<Stage> {
    const double = await KubernetesDouble.start({ permits: permitted, providerCheck: goodProvider, ...options });
    for (const manifest of manifests) double.put(manifest);
    const stage = new Stage(double);
    await stage.startOperator(operator);
    return stage;
  }

  async startOperator(options: Partial<KubernetesOptions> = {}): Promise<void> {
    const askHealth = (): Promise<{ status: number }> => Promise.resolve({ status: this.storeStatus });
    this.#operator = await startOperator(this.double, { askHealth, ...options });
  }

  async stopOperator(): Promise<void> {
    await this.#operator?.stop();
    this.#operator = undefined;
  }

  /** Answers every status that was not true, which are none. */
  async strike(): Promise<readonly string[]> {
    await this.stopOperator();
    this.honesty.end();
    await this.double.stop();
    return this.honesty.lies;
  }

  put(...manifests: readonly Manifest[]): void {
    for (const manifest of manifests) this.double.put(manifest);
  }

  /** Puts, and waits until the operator says of each resource that all is done. */
  async settle(...manifests: readonly Manifest[]): Promise<void> {
    this.put(...manifests);
    const ours = manifests.filter(({ kind }) => kinds.has(kind));
    await this.current(...ours.map(({ kind, metadata }) => ({ kind, ...metadata }) as Resource));
  }

  async current(...resources: readonly Resource[]): Promise<void> {
    const { double } = this;
    for (const resource of resources) {
      await this.until(() => isCurrent(double, resource), `${resource.kind} ${resource.name} is current`);
    }
  }

  says(resource: Resource, type: string, reason: string, status = 'True'): Promise<void> {
    const holds = (): boolean => {
      const found = condition(this.double, resource, type);
      return found?.reason === reason && found.status === status;
    };
    return this.until(holds, `${resource.kind} ${resource.name} says ${type} ${status} ${reason}`);
  }

  tells(resource: Resource, reason: string): Promise<void> {
    const told = (): boolean => eventsOf(this.double, resource).some((event) => event.startsWith(`${reason}:`));
    return this.until(told, `an event ${reason} about ${resource.kind} ${resource.name}`);
  }

  async until(holds: () => boolean, what: string, timeoutMs?: number): Promise<void> {
    try {
      await this.double.until(holds, what, timeoutMs);
    } catch (error) {
      throw new Error(`${String(error)}\n${this.#scene()}`, { cause: error });
    }
  }

  /** Pods with this image start, and never answer as ready, until `behaveWell`. */
  holdReadiness(image: string): void {
    this.double.behave((pod) => (imageOf(pod) === image ? { kind: 'not-ready' } : wellBehaved(pod)));
  }

  behaveWell(): void {
    this.double.behave(wellBehaved);
  }

  images(workload = 'demo-server'): readonly (string | undefined)[] {
    return podsOf(this.double, workload).map(imageOf);
  }

  /** Resolves when `count` reconciliations have ended without an error since the operator started. */
  async reconciles(count: number): Promise<void> {
    let done = 0;
    while (done < count) {
      const metrics = (await this.#operator?.metrics()) ?? '';
      const counts = metrics.matchAll(/^coffer_operator_reconcile_total\{.*result="success".*\} (\d+)$/gm);
      done = [...counts].reduce((sum, [, number]) => sum + Number(number), 0);
      // The metrics of the operator tell nobody when they change, and each reading takes processor time.
      await sleep(20);
    }
  }

  /** Lists that failed and watches that broke. */
  async watchRestarts(): Promise<number> {
    const metrics = (await this.#operator?.metrics()) ?? '';
    const counts = metrics.matchAll(/^coffer_operator_watch_restarts_total\{.*\} (\d+)$/gm);
    return [...counts].reduce((sum, [, number]) => sum + Number(number), 0);
  }

  /** Resolves when the operator has asked for nothing in longer than its pauses between passes. */
  quiet(): Promise<void> {
    return quiet(this.double);
  }

  /** What a person would look at first, for the messages of failed tests. */
  #scene(): string {
    const resources = ['tenants', 'kmsconfigs', 'identityproviders'].flatMap((plural) =>
      this.double.list(`${plural}.coffer.dev`),
    );
    const said = resources.slice(0, 5).map(({ kind, metadata, status }) => {
      const { conditions = [] } = (status ?? {}) as {
        conditions?: { type: string; status: string; reason: string; message: string }[];
      };
      const lines = conditions.map(
        ({ type, status: value, reason, message }) => `    ${type} ${value} ${reason}: ${message}`,
      );
      return [`  ${kind} ${metadata.name} ${metadata.generation}`, ...lines].join('\n');
    });
    const pods = this.double
      .list('pods')
      .slice(0, 8)
      .map((pod) => `  ${pod.metadata.name} ${imageOf(pod)}`);
    return [...said, ...pods, `  ${this.double.requests.lastWrites.slice(-8).join('; ')}`].join('\n');
  }
}
