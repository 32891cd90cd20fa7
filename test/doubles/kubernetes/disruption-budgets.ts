import { isObject, type ApiObject } from './api-object.ts';
import { selectorObject } from './selectors.ts';

export function isReady(pod: ApiObject): boolean {
  const conditions = isObject(pod['status']) ? pod['status']['conditions'] : undefined;
  if (!Array.isArray(conditions) || pod.metadata.deletionTimestamp !== undefined) return false;
  return conditions.some(
    (condition) => isObject(condition) && condition['type'] === 'Ready' && condition['status'] === 'True',
  );
}

/** How many pods the budget spares now; unlimited where it does not select the pod, or the pod is not ready anyway. */
export function disruptionsAllowed(budget: ApiObject, pods: readonly ApiObject[], pod: ApiObject): number {
  const spec = (isObject(budget['spec']) ? budget['spec'] : {}) as {
    selector?: unknown;
    minAvailable?: number | string;
    maxUnavailable?: number | string;
  };
  const selects = selectorObject(spec.selector);
  if (!selects(pod)) return Number.POSITIVE_INFINITY;
  const selected = pods.filter(selects);
  const healthy = selected.filter(isReady).length;
  const wanted =
    spec.minAvailable === undefined
      ? selected.length - share(spec.maxUnavailable ?? 1, selected.length)
      : share(spec.minAvailable, selected.length);
  if (!isReady(pod)) return healthy >= wanted ? Number.POSITIVE_INFINITY : 0;
  return healthy - wanted;
}

function share(value: number | string, of: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) / 100) * of);
}
