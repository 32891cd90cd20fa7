import { isObject, type ApiObject, ApiError } from './api-object.ts';

export type Selector = (object: ApiObject) => boolean;

/** `a=b,c!=d,e in (f,g),h notin (i),j,!k`. @see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/ */
export function labelSelector(text: string): Selector {
  const requirements = (text.match(/[^,(]+(?:\([^)]*\))?/g) ?? []).map((part) => requirement(part.trim()));
  return (object) => requirements.every((holds) => holds(object.metadata.labels ?? {}));
}

function requirement(text: string): (labels: Readonly<Record<string, string>>) => boolean {
  const among = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(text);
  if (among !== null) {
    const [, key = '', operator, list = ''] = among;
    const values = list.split(',').map((value) => value.trim());
    return (labels) => values.includes(labels[key] ?? '\u0000') === (operator === 'in');
  }
  const compared = /^([^=!\s]+)\s*(==?|!=)\s*(\S*)$/.exec(text);
  if (compared !== null) {
    const [, key = '', operator, value = ''] = compared;
    return (labels) => (labels[key] === value) === (operator !== '!=');
  }
  const presence = /^(!?)\s*([\w./-]+)$/.exec(text);
  if (presence === null) throw ApiError.badRequest(`unable to parse requirement: ${text}`);
  const [, not, key = ''] = presence;
  return (labels) => key in labels === (not === '');
}

/** A LabelSelector object; an empty one selects everything. */
export function selectorObject(selector: unknown): Selector {
  const { matchLabels = {}, matchExpressions = [] } = (isObject(selector) ? selector : {}) as {
    matchLabels?: Record<string, string>;
    matchExpressions?: { key: string; operator: string; values?: string[] }[];
  };
  return ({ metadata: { labels = {} } }) =>
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator === 'Exists') return key in labels;
      if (operator === 'DoesNotExist') return !(key in labels);
      return values.includes(labels[key] ?? '\u0000') === (operator === 'In');
    });
}

/** `metadata.name=a,involvedObject.kind!=b`. */
export function fieldSelector(text: string): Selector {
  const terms = text.split(',').map((term) => /^([^=!]+)(!=|==?)(.*)$/.exec(term.trim()));
  return (object) =>
    terms.every((term) => {
      if (term === null) throw ApiError.badRequest(`invalid field selector: ${text}`);
      const [, path = '', operator, value] = term;
      const found = path.split('.').reduce<unknown>((node, key) => (isObject(node) ? node[key] : undefined), object);
      return ((typeof found === 'string' ? found : '') === value) === (operator !== '!=');
    });
}

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
