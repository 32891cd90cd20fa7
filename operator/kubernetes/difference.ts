import { isDeepStrictEqual } from 'node:util';

/**
 * Whether a live object has everything that was sent: fields that were not sent belong to others (defaults, a status, other managers)
 * and do not count. An empty object or list is the same as none, which is how the API server keeps it.
 */
export function hasAll(live: unknown, sent: unknown): boolean {
  if (sent === undefined || (live === undefined && isEmpty(sent))) return true;
  if (Array.isArray(sent)) {
    return Array.isArray(live) && live.length === sent.length && sent.every((item, index) => hasAll(live[index], item));
  }
  if (isObject(sent)) return isObject(live) && Object.entries(sent).every(([key, value]) => hasAll(live[key], value));
  return live === sent;
}

/** What a live object has at the places that were sent: how the API server spells it (`1000m` of CPU is `1`). */
export function atSentPlaces(live: unknown, sent: unknown): unknown {
  if (Array.isArray(sent)) {
    return Array.isArray(live) ? live.map((item, index) => atSentPlaces(item, sent[index])) : live;
  }
  if (isObject(sent) && isObject(live)) {
    return Object.fromEntries(Object.entries(sent).map(([key, value]) => [key, atSentPlaces(live[key], value)]));
  }
  return live;
}

export function same(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(left, right);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
