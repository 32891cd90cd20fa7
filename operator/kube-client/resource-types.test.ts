import { describe, expect, it } from 'vitest';
import type { ResourceType } from './kube-api.ts';
import { resourcePath, resourceTypes, typeOf } from './resource-types.ts';

const all = Object.values<ResourceType>(resourceTypes);

describe('the table of types', () => {
  it('has a namespace for all but those of the whole cluster', () => {
    const clusterWide = all.filter(({ namespaced }) => !namespaced).map(({ kind }) => kind);
    expect(clusterWide.toSorted()).toEqual(['CustomResourceDefinition', 'Namespace', 'Node']);
  });

  it('finds the type of an object by its version and kind', () => {
    for (const type of all) expect(typeOf(type)).toBe(type);
    expect(() => typeOf({ apiVersion: 'apps/v1', kind: 'Pod' })).toThrow('no type that the operator knows');
  });
});

describe('resourcePath', () => {
  it.each([
    [resourceTypes.pod, { namespace: 'red', name: 'a', subresource: 'log' }, '/api/v1/namespaces/red/pods/a/log'],
    [resourceTypes.statefulSet, { namespace: 'red' }, '/apis/apps/v1/namespaces/red/statefulsets'],
    [resourceTypes.statefulSet, {}, '/apis/apps/v1/statefulsets'],
    [resourceTypes.node, { namespace: 'red', name: 'a' }, '/api/v1/nodes/a'],
    [resourceTypes.pod, { namespace: 'a/b', name: 'c?' }, '/api/v1/namespaces/a%2Fb/pods/c%3F'],
  ])('of %o with %o', (type, parts, path) => {
    expect(resourcePath(type, parts)).toBe(path);
  });

  it('refuses an object without its namespace', () => {
    expect(() => resourcePath(resourceTypes.pod, { name: 'a' })).toThrow('Pod a needs a namespace');
  });
});
