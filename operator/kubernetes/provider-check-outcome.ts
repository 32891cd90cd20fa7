import type { KubeObject } from '../kube/kube-api.ts';
import type { ProviderCheck } from '../reconcile/check-provider.ts';
import { podState } from './instance-state.ts';
import { podView } from './pod-view.ts';
import { readAnswer } from './provider-check-message.ts';

export function checkFailed(why: string): ProviderCheck {
  return { kind: 'broken', reason: 'CheckFailed', message: `the provider could not be checked: ${why}` };
}

/**
 * What the pod of a check says; undefined while there is nothing to say yet, unless `late` tells that nobody waits any longer: then
 * it is why the pod got no further.
 */
export function outcomeOf(pod: KubeObject, late?: string): ProviderCheck | undefined {
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
