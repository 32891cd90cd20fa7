import type { Cache, KubeApi, KubeObject } from '../../../kube-client/kube-api.ts';
import { resourceTypes } from '../../../kube-client/resource-types.ts';
import { checkComponents, componentLabel, managedSelector } from '../objects/labels.ts';
import { podState, podView } from './instance-state.ts';

/** The end of a check's pod. */
export type PodEnd =
  | { readonly kind: 'ended'; readonly exitCode: number; readonly message: string }
  /** It did not run, or not to its end. */
  | { readonly kind: 'failed'; readonly why: string };

interface CheckPodsOptions {
  readonly api: KubeApi;
  readonly pods: Cache;
  readonly namespace: string;
  readonly random: () => number;
}

/** Runs short-lived pods that check something from the network of one namespace. Each has a Secret of its own, with the pod's name. */
export class CheckPods {
  readonly #options: CheckPodsOptions;
  /** Pods that are waited for, by name. */
  readonly #waiting = new Map<string, (end: PodEnd) => void>();
  #closed = false;

  constructor(options: CheckPodsOptions) {
    this.#options = options;
  }

  /** Returns a new name: the pod of the attempt before may still be terminating. */
  name(of: string): string {
    const number = Math.floor(this.#options.random() * 36 ** 6);
    return `${of.slice(0, 45).replace(/-+$/, '')}-check-${number.toString(36).padStart(6, '0')}`;
  }

  /** Makes the Secret and the pod, waits for its end, and removes both. Never errors. */
  async run(objects: { readonly secret: KubeObject; readonly pod: KubeObject }, timeoutMs: number): Promise<PodEnd> {
    if (this.#closed) return stopping;
    const { name } = objects.pod.metadata;
    try {
      return await this.#run(name, objects, timeoutMs);
    } catch (error) {
      return { kind: 'failed', why: error instanceof Error ? error.message : String(error) };
    } finally {
      this.#waiting.delete(name);
      // The remaining objects are removed at the next start, or with their resource.
      await this.#remove(name).catch(() => undefined);
    }
  }

  /** Call it with every change of a cached pod of this namespace. */
  onEvent(before: KubeObject | undefined, after: KubeObject | undefined): void {
    const name = (after ?? before)?.metadata.name;
    const resolve = name === undefined ? undefined : this.#waiting.get(name);
    if (resolve === undefined) return;
    const end =
      after === undefined ? ({ kind: 'failed', why: 'its pod was deleted before it answered' } as const) : endOf(after);
    if (end !== undefined) resolve(end);
  }

  /** Removes pods and Secrets that an earlier operator left. Call it once at start, before the first check. */
  async cleanUp(): Promise<void> {
    const { api, namespace, pods } = this.#options;
    for (const component of checkComponents) {
      const left = pods.list(namespace).filter(({ metadata }) => metadata.labels?.[componentLabel] === component);
      for (const { metadata } of left) {
        await api.delete(resourceTypes.pod, namespace, metadata.name, { gracePeriodSeconds: 0 });
      }
      const labelSelector = `${managedSelector},${componentLabel}=${component}`;
      const { items } = await api.list(resourceTypes.secret, { namespace, labelSelector });
      for (const { metadata } of items) await api.delete(resourceTypes.secret, namespace, metadata.name);
    }
  }

  /** Returns every waiting check with a failure. */
  close(): void {
    this.#closed = true;
    for (const resolve of this.#waiting.values()) resolve(stopping);
  }

  async #run(
    name: string,
    { secret, pod }: { readonly secret: KubeObject; readonly pod: KubeObject },
    timeoutMs: number,
  ): Promise<PodEnd> {
    const { api } = this.#options;
    const { promise, resolve } = Promise.withResolvers<PodEnd>();
    this.#waiting.set(name, resolve);
    await api.create(secret);
    await api.create(pod);
    const timer = setTimeout(() => void this.#lastLook(name, timeoutMs).then(resolve), timeoutMs);
    timer.unref();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads from the API server, since a watch may lag. */
  async #lastLook(name: string, timeoutMs: number): Promise<PodEnd> {
    const { api, namespace } = this.#options;
    const late = `no answer in ${Math.ceil(timeoutMs / 1_000)} s`;
    try {
      const pod = await api.get(resourceTypes.pod, namespace, name);
      return (pod && endOf(pod, late)) ?? { kind: 'failed', why: late };
    } catch {
      return { kind: 'failed', why: late };
    }
  }

  async #remove(name: string): Promise<void> {
    const { api, namespace } = this.#options;
    await api.delete(resourceTypes.pod, namespace, name, { gracePeriodSeconds: 0 });
    await api.delete(resourceTypes.secret, namespace, name);
  }
}

const stopping: PodEnd = { kind: 'failed', why: 'the operator is stopping' };

/**
 * Returns the end of a check's pod; undefined while it has none. With `late` the timeout is over, and the answer says why the pod made no
 * progress.
 */
function endOf(pod: KubeObject, late?: string): PodEnd | undefined {
  const view = podView(pod);
  const { phase, containerStatuses } = view.status;
  const end = containerStatuses.map(({ state }) => state.terminated).find((state) => state !== undefined);
  if (end?.exitCode !== undefined && end.message !== undefined)
    return { kind: 'ended', exitCode: end.exitCode, message: end.message };
  const state = podState(view, new Date(0));
  if (state.kind === 'broken') return { kind: 'failed', why: `its pod does not run: ${state.message}` };
  if (end !== undefined || phase === 'Succeeded') return { kind: 'ended', exitCode: end?.exitCode ?? 0, message: '' };
  if (late === undefined) return undefined;
  const { message } = state.kind === 'starting' ? state : { message: undefined };
  return { kind: 'failed', why: message === undefined ? late : `${late}; its pod: ${message}` };
}
