import { isDeepStrictEqual } from 'node:util';
import type { FieldTree, ForeignFields, KubeObject } from '../../../kube-client/kube-api.ts';
import type { Json } from '../../../contract/workload.ts';

/**
 * Reports whether a live object has all sent fields. Fields that were not sent belong to others (defaults, a status, other managers) and do
 * not count. An empty object or list equals a missing one, since the API server drops both.
 */
export function hasAll(live: unknown, sent: unknown): boolean {
  if (sent === undefined || (live === undefined && isEmpty(sent))) return true;
  if (Array.isArray(sent)) {
    return Array.isArray(live) && live.length === sent.length && sent.every((item, index) => hasAll(live[index], item));
  }
  if (isObject(sent)) return isObject(live) && Object.entries(sent).every(([key, value]) => hasAll(live[key], value));
  return live === sent;
}

/** Returns the live values at the places that were sent, in the spelling of the API server (`1000m` of CPU is `1`). */
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

/** A manual change in a spec that the operator renders, and the merge patch that reverts it. */
export interface Drift {
  readonly managers: readonly string[];
  /** Paths that differ: `spec.template.spec.containers`. */
  readonly paths: readonly string[];
  readonly patch: Json;
}

interface Undone {
  readonly patch: Record<string, Json>;
  readonly paths: readonly string[];
}

/** Fields that controllers of load balancers fill in. Where the operator sets one itself, it is one of the sent fields. */
const ofControllers: Readonly<Record<string, readonly string[]>> = {
  Service: ['loadBalancerIP', 'loadBalancerClass', 'healthCheckNodePort'],
};

function withoutThoseOfControllers(fields: FieldTree, kind: string, wanted: Fields): FieldTree {
  const left = (ofControllers[kind] ?? []).filter((field) => wanted[field] === undefined).map((field) => `f:${field}`);
  return Object.fromEntries(Object.entries(fields).filter(([segment]) => !left.includes(segment)));
}

/**
 * Finds manual changes. Server-side apply reverts the fields that it sends and leaves the others: a variable that was added to a container,
 * a second port of a Service. Answers undefined when no field of others differs from the wanted ones.
 */
export function driftOf(live: KubeObject, wanted: KubeObject): Drift | undefined {
  const [liveSpec, wantedSpec] = [objectOf(live['spec']), objectOf(wanted['spec'])];
  const undone = (live.metadata.foreign ?? []).flatMap((foreign) => {
    const { patch, paths } = undo(
      withoutThoseOfControllers(foreign.fields, wanted.kind, wantedSpec),
      liveSpec,
      wantedSpec,
      'spec',
    );
    return paths.length === 0 ? [] : [{ foreign, patch, paths }];
  });
  if (undone.length === 0) return undefined;
  return {
    managers: [...new Set(undone.map(({ foreign }: { readonly foreign: ForeignFields }) => foreign.manager))],
    paths: [...new Set(undone.flatMap(({ paths }) => paths))],
    patch: { spec: undone.map(({ patch }) => patch).reduce(merged) },
  };
}

/** A label may have the name of a property of every object. */
function fieldOf(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function undo(tree: FieldTree, live: Fields, wanted: Fields, path: string): Undone {
  const patch: Record<string, Json> = {};
  const paths: string[] = [];
  for (const [segment, below] of Object.entries(tree)) {
    if (!segment.startsWith('f:')) continue;
    const name = segment.slice(2);
    const [has, wants] = [fieldOf(live, name), fieldOf(wanted, name)];
    const here = `${path}.${name}`;
    if (has === undefined) continue;
    const inner = Object.keys(below).some((key) => key.startsWith('f:'));
    if (inner && isFields(has) && (wants === undefined || isFields(wants))) {
      const deeper = undo(below, has, wants === undefined ? {} : wants, here);
      if (deeper.paths.length === 0) continue;
      patch[name] = deeper.patch;
      paths.push(...deeper.paths);
    } else if (wants === undefined) {
      patch[name] = null;
      paths.push(here);
    } else if (differs(below, has, wants)) {
      patch[name] = wants as Json;
      paths.push(here);
    }
  }
  return { patch, paths };
}

/** Compares a list or a value. Of a list whose items have keys, only the fields of an item that others own count. */
function differs(tree: FieldTree, has: unknown, wants: unknown): boolean {
  const items = Object.entries(tree).filter(([segment]) => segment.startsWith('k:'));
  if (items.length === 0 || !Array.isArray(has) || !Array.isArray(wants)) {
    return !(hasAll(has, wants) && hasAll(wants, has));
  }
  return items.some(([segment, below]) => {
    const keys = JSON.parse(segment.slice(2)) as Fields;
    const of = (list: readonly unknown[]) => list.map(objectOf).find((item) => hasAll(item, keys));
    const [item, other] = [of(has), of(wants)];
    if (item === undefined) return false;
    return other === undefined || undo(below, item, other, '').paths.length > 0;
  });
}

/**
 * Returns the paths of the rendered template at which the live one has something else: `spec.containers.server.image`. Items of a list are named,
 * where all of them have names. An item that the live list has besides counts as well: a removed field has no owner. Quantities are ignored, since the
 * server spells them differently.
 */
export function templateDifferences(live: unknown, rendered: unknown): readonly string[] {
  return differences(live, withoutQuantities(rendered), '');
}

function differences(live: unknown, sent: unknown, path: string): readonly string[] {
  if (hasAll(live, sent)) return [];
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  if (isFields(sent) && isFields(live)) {
    return Object.entries(sent).flatMap(([name, value]) => differences(live[name], value, at(name)));
  }
  const [has, wants] = [byName(live), byName(sent)];
  if (has === undefined || wants === undefined) return [path];
  const added = [...has.keys()].filter((name) => !wants.has(name)).map(at);
  const below = [...wants].flatMap(([name, value]) => differences(has.get(name), value, at(name)));
  return added.length + below.length === 0 ? [path] : [...added, ...below];
}

function byName(list: unknown): ReadonlyMap<string, unknown> | undefined {
  if (!Array.isArray(list)) return undefined;
  const items = list.map((item: unknown) => [objectOf(item)['name'], item] as const);
  return items.every((item): item is [string, unknown] => typeof item[0] === 'string') ? new Map(items) : undefined;
}

function withoutQuantities(template: unknown): unknown {
  const { spec, ...rest } = objectOf(template);
  const { containers, ...others } = objectOf(spec);
  const bare = (Array.isArray(containers) ? containers : []).map((container) => {
    const { resources: _, ...kept } = objectOf(container);
    return kept;
  });
  return { ...rest, spec: { ...others, containers: bare } };
}

type Fields = Readonly<Record<string, unknown>>;

function merged(left: Record<string, Json>, right: Record<string, Json>): Record<string, Json> {
  const both = { ...left };
  for (const [key, value] of Object.entries(right)) {
    const before = both[key];
    both[key] = isFields(before) && isFields(value) ? merged(before, value) : value;
  }
  return both;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}
