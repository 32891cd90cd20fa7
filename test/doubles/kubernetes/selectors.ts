import { isObject, type ApiObject } from './api-object.ts';
import { ApiError } from './api-error.ts';

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
