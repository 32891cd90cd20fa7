import type { KubeObject, Cache, KubeApi, OwnerReference } from '../../../kube-client/kube-api.ts';
import type { ProviderCheck } from '../../../reconcile/identity-provider/check-provider.ts';
import { podState, podView } from '../workload/instance-state.ts';
import { readAnswer, writeRequest } from './provider-check-message.ts';
import type { IdentityProvider } from '../../../api/object.ts';
import { resourceTypes } from '../../../kube-client/resource-types.ts';
import type { PodOptions, ResourceRef } from '../../contract/workload.ts';
import { managedSelector } from '../objects/labels.ts';
import { providerCheckObjects } from './provider-check-pod.ts';

function checkFailed(why: string): ProviderCheck {
  return { kind: 'broken', reason: 'CheckFailed', message: `the provider could not be checked: ${why}` };
}

/**
 * Answers the result of a check's pod; undefined while there is none. With `late` the timeout is over, and the answer says why the pod made
 * no progress.
 */
function outcomeOf(pod: KubeObject, late?: string): ProviderCheck | undefined {
  const view = podView(pod);
  const { phase, containerStatuses } = view.status;
  const end = containerStatuses.map(({ state }) => state.terminated).find((state) => state !== undefined);
  const answer = readAnswer(end?.message);
  if (answer !== undefined && end?.exitCode === 0) return answer;
  const state = podState(view, new Date(0));
  if (state.kind === 'broken') return checkFailed(`its pod does not run: ${state.message}`);
  if (end !== undefined || phase === 'Succeeded') return checkFailed('its pod ended without an answer');
  if (late === undefined) return undefined;
  return checkFailed(
    state.kind === 'starting' && state.message !== undefined ? `${late}; its pod: ${state.message}` : late,
  );
}

interface ProviderCheckOptions {
  readonly api: KubeApi;
  readonly pods: Cache;
  readonly namespace: string;
  readonly owner: (ref: ResourceRef) => OwnerReference | undefined;
  /** The image of the operator. */
  readonly image: string;
  /** Answers the image and placement options of tenants that use the provider. */
  readonly pod?: (provider: IdentityProvider) => PodOptions | undefined;
  /** Milliseconds from the creation of the pod to its answer. */
  readonly timeoutMs?: number;
  readonly random: () => number;
}

/** The node may have to pull the image first. */
const standardTimeoutMs = 120_000;
const componentLabel = 'app.kubernetes.io/component';
const component = 'provider-check';
const selector = `${managedSelector},${componentLabel}=${component}`;

/**
 * Checks identity providers from the network of one namespace. Each check is a short-lived pod (label `app.kubernetes.io/component:
 * provider-check`) that runs `coffer-operator check-provider` and answers by its termination message.
 */
export class PodProviderCheck {
  readonly #options: ProviderCheckOptions;
  /** Checks that wait for their pod, by its name. */
  readonly #waiting = new Map<string, (outcome: ProviderCheck) => void>();
  #closed = false;

  constructor(options: ProviderCheckOptions) {
    this.#options = options;
  }

  /** Never errors. A pod that cannot run gives a broken state of reason CheckFailed. */
  async check(provider: IdentityProvider, clientSecret: string): Promise<ProviderCheck> {
    if (this.#closed) return checkFailed('the operator is stopping');
    const name = this.#podName(provider.metadata.name);
    try {
      return await this.#run(name, provider, clientSecret);
    } catch (error) {
      return checkFailed(error instanceof Error ? error.message : String(error));
    } finally {
      this.#waiting.delete(name);
      // The remaining objects are removed at the next start, or with their IdentityProvider.
      await this.#remove(name).catch(() => undefined);
    }
  }

  /** Call it with every change of a cached pod of this namespace. */
  onEvent(before: KubeObject | undefined, after: KubeObject | undefined): void {
    const name = (after ?? before)?.metadata.name;
    const resolve = name === undefined ? undefined : this.#waiting.get(name);
    if (resolve === undefined) return;
    const outcome = after === undefined ? checkFailed('its pod was deleted before it answered') : outcomeOf(after);
    if (outcome !== undefined) resolve(outcome);
  }

  /** Removes pods and Secrets that an earlier operator left. Call it once at start, before the first check. */
  async cleanUp(): Promise<void> {
    const { api, namespace, pods } = this.#options;
    const left = pods.list(namespace).filter(({ metadata }) => metadata.labels?.[componentLabel] === component);
    for (const { metadata } of left) {
      await api.delete(resourceTypes.pod, namespace, metadata.name, { gracePeriodSeconds: 0 });
    }
    const { items } = await api.list(resourceTypes.secret, { namespace, labelSelector: selector });
    for (const { metadata } of items) await api.delete(resourceTypes.secret, namespace, metadata.name);
  }

  /** Answers every waiting check with a broken state. */
  close(): void {
    this.#closed = true;
    for (const resolve of this.#waiting.values()) resolve(checkFailed('the operator is stopping'));
  }

  async #run(name: string, provider: IdentityProvider, clientSecret: string): Promise<ProviderCheck> {
    const { api, namespace, image, pod, timeoutMs = standardTimeoutMs } = this.#options;
    const owner = this.#options.owner({ kind: 'IdentityProvider', name: provider.metadata.name });
    if (owner === undefined) return checkFailed('the IdentityProvider is gone');
    const objects = providerCheckObjects(provider, writeRequest({ provider, clientSecret }), {
      name,
      namespace,
      owner,
      image,
      pod: pod?.(provider),
      deadlineSeconds: Math.ceil(timeoutMs / 1_000),
    });
    const { promise, resolve } = Promise.withResolvers<ProviderCheck>();
    this.#waiting.set(name, resolve);
    await api.create(objects.secret);
    await api.create(objects.pod);
    const timer = setTimeout(() => void this.#lastLook(name, timeoutMs).then(resolve), timeoutMs);
    timer.unref();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads from the API server, since a watch may lag. */
  async #lastLook(name: string, timeoutMs: number): Promise<ProviderCheck> {
    const { api, namespace } = this.#options;
    const late = `no answer in ${Math.ceil(timeoutMs / 1_000)} s`;
    try {
      const pod = await api.get(resourceTypes.pod, namespace, name);
      return (pod && outcomeOf(pod, late)) ?? checkFailed(late);
    } catch {
      return checkFailed(late);
    }
  }

  async #remove(name: string): Promise<void> {
    const { api, namespace } = this.#options;
    await api.delete(resourceTypes.pod, namespace, name, { gracePeriodSeconds: 0 });
    await api.delete(resourceTypes.secret, namespace, name);
  }

  /** Each attempt has its own pod: the one before may still be terminating. */
  #podName(provider: string): string {
    const number = Math.floor(this.#options.random() * 36 ** 6);
    return `${provider.slice(0, 45).replace(/-+$/, '')}-check-${number.toString(36).padStart(6, '0')}`;
  }
}
