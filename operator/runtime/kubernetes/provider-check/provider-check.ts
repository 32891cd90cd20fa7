import type { OwnerReference } from '../../../kube-client/kube-api.ts';
import type { ProviderCheck } from '../../../reconcile/identity-provider/check-provider.ts';
import type { CheckPods, PodEnd } from '../workload/check-pods.ts';
import { readAnswer, writeRequest } from './provider-check-message.ts';
import type { IdentityProvider } from '../../../api/object.ts';
import type { PodOptions, ResourceRef } from '../../../contract/workload.ts';
import { providerCheckObjects } from './provider-check-pod.ts';

interface ProviderCheckOptions {
  readonly pods: CheckPods;
  readonly namespace: string;
  readonly owner: (ref: ResourceRef) => OwnerReference | undefined;
  /** The image of the operator. */
  readonly image: string;
  /** Returns the image and placement options of tenants that use the provider. */
  readonly pod?: (provider: IdentityProvider) => PodOptions | undefined;
  /** Milliseconds from the creation of the pod to its answer. */
  readonly timeoutMs?: number;
}

/** The node may have to pull the image first. */
const standardTimeoutMs = 120_000;

/**
 * Checks identity providers from the network of one namespace. Each check is a short-lived pod (label `app.kubernetes.io/component:
 * provider-check`) that runs `coffer-operator check-provider` and answers by its termination message.
 */
export class PodProviderCheck {
  readonly #options: ProviderCheckOptions;

  constructor(options: ProviderCheckOptions) {
    this.#options = options;
  }

  /** Never errors. A pod that cannot run gives a broken state of reason CheckFailed. */
  async check(provider: IdentityProvider, clientSecret: string): Promise<ProviderCheck> {
    const { pods, namespace, image, pod, timeoutMs = standardTimeoutMs } = this.#options;
    const owner = this.#options.owner({ kind: 'IdentityProvider', name: provider.metadata.name });
    if (owner === undefined) return checkFailed('the IdentityProvider is gone');
    const objects = providerCheckObjects(provider, writeRequest({ provider, clientSecret }), {
      name: pods.name(provider.metadata.name),
      namespace,
      owner,
      image,
      pod: pod?.(provider),
      deadlineSeconds: Math.ceil(timeoutMs / 1_000),
    });
    return outcomeOf(await pods.run(objects, timeoutMs));
  }
}

function outcomeOf(end: PodEnd): ProviderCheck {
  if (end.kind === 'failed') return checkFailed(end.why);
  const answer = readAnswer(end.message);
  if (answer !== undefined && end.exitCode === 0) return answer;
  return checkFailed(`its pod ended without an answer${end.message === '' ? '' : `: ${end.message}`}`);
}

function checkFailed(why: string): ProviderCheck {
  return { kind: 'broken', reason: 'CheckFailed', message: `the provider could not be checked: ${why}` };
}
