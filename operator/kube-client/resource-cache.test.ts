import { describe, expect, it } from 'vitest';
import type { KubeObject } from './kube-api.ts';
import { ResourceCache, type ResourceCacheOptions } from './resource-cache.ts';
import { resourceTypes } from './resource-types.ts';

function object(name: string, resourceVersion: string, more: object = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'red', uid: `uid-${name}`, resourceVersion, ...more },
  };
}

function cache(options: Partial<ResourceCacheOptions> = {}) {
  const failures: unknown[] = [];
  const made = new ResourceCache(resourceTypes.pod, { failed: (error) => failures.push(error), ...options });
  return { made, failures };
}

const versionIn = (made: ResourceCache, name = 'a') => made.get('red', name)?.metadata.resourceVersion;

describe('ResourceCache', () => {
  it('is synced after its first list', async () => {
    const { made } = cache();
    expect(made.isSynced).toBe(false);
    made.replace([object('a', '1')], '5');
    await made.synced();
    expect(made.list('red').map(({ metadata }) => metadata.name)).toEqual(['a']);
  });

  it('is synced after the lists of all its namespaces, each for itself', () => {
    const { made } = cache({ namespaces: ['red', 'blue'] });
    made.replace([object('a', '1')], '5', 'red');
    expect(made.isSynced).toBe(false);
    made.replace([], '6', 'blue');
    expect(made.isSynced).toBe(true);
    expect(made.size).toBe(1);
  });

  it('keeps its own later write against an older version from the watch', () => {
    const { made } = cache();
    made.replace([object('a', '9')], '9');
    made.wrote(object('a', '12'));
    made.take(object('a', '10'));
    expect(versionIn(made)).toBe('12');
  });

  it('compares versions as numbers', () => {
    const { made } = cache();
    made.take(object('a', '9'));
    made.take(object('a', '10'));
    expect(versionIn(made)).toBe('10');
  });

  it('takes what came last where versions are no numbers', () => {
    const { made } = cache();
    made.take(object('a', 'zz'));
    made.take(object('a', 'aa'));
    expect(versionIn(made)).toBe('aa');
  });

  it('keeps what it wrote while a list without it was on its way', () => {
    const { made } = cache();
    made.wrote(object('new', '30'));
    made.replace([object('a', '3')], '20');
    expect(made.get('red', 'new')).toBeDefined();
  });

  it('forgets what a list has no more', () => {
    const { made } = cache();
    made.replace([object('a', '1'), object('b', '2')], '5');
    made.replace([object('b', '2')], '8');
    expect(made.list().map(({ metadata }) => metadata.name)).toEqual(['b']);
  });

  it('believes a server that was set back to a backup', () => {
    const { made } = cache();
    made.replace([object('a', '90'), object('b', '91')], '100');
    made.replace([object('a', '40')], '50');
    expect(versionIn(made)).toBe('40');
    expect(made.size).toBe(1);
  });

  it('does not bring back what it deleted when the watch tells of the time before', () => {
    const { made } = cache();
    made.take(object('a', '5'));
    made.deleted('red', 'a');
    made.take(object('a', '6'));
    expect(made.size).toBe(0);
  });

  it('shows a deleted pod that is still ending', () => {
    const { made } = cache();
    made.take(object('a', '5'));
    made.deleted('red', 'a');
    made.take(object('a', '6', { deletionTimestamp: '2026-01-01T00:00:00Z' }));
    expect(made.size).toBe(1);
  });

  it('takes a new object of the name of a deleted one', () => {
    const { made } = cache();
    made.take(object('a', '5'));
    made.deleted('red', 'a');
    made.take(object('a', '8', { uid: 'another' }));
    expect(versionIn(made)).toBe('8');
  });

  it('keeps a new object against the late end of its predecessor', () => {
    const { made } = cache();
    made.take(object('a', '5'));
    made.wrote(object('a', '9', { uid: 'another' }));
    made.drop(object('a', '7'));
    expect(versionIn(made)).toBe('9');
  });

  it('does not bring back what the watch told to be gone when the answer to a write comes late', () => {
    const { made } = cache();
    made.take(object('a', '5'));
    made.drop(object('a', '8'));
    made.wrote(object('a', '7', { deletionTimestamp: '2026-01-01T00:00:00Z' }));
    expect(made.size).toBe(0);
  });

  it('takes back what was only out of its selection', () => {
    const { made } = cache();
    made.take(object('a', '5'));
    made.drop(object('a', '8'));
    made.take(object('a', '9'));
    expect(versionIn(made)).toBe('9');
  });

  it('finds objects by the workload in their label, and follows its change', () => {
    const { made } = cache();
    made.take(object('a', '1', { labels: { 'coffer.dev/workload': 'demo' } }));
    expect(made.ofWorkload('red', 'demo')).toHaveLength(1);
    made.take(object('a', '2'));
    expect(made.ofWorkload('red', 'demo')).toHaveLength(0);
  });

  it('tells changes with what was before, once', () => {
    const { made } = cache();
    const told: unknown[] = [];
    made.onChange((before, after) => told.push([before?.metadata.resourceVersion, after?.metadata.resourceVersion]));
    made.wrote(object('a', '1'));
    made.take(object('a', '1'));
    made.take(object('a', '2'));
    made.drop(object('a', '3'));
    expect(told).toEqual([
      [undefined, '1'],
      ['1', '2'],
      ['2', undefined],
    ]);
  });

  it('tells the other listeners when one throws', () => {
    const { made, failures } = cache();
    let told = 0;
    made.onChange(() => {
      throw new Error('listener');
    });
    made.onChange(() => told++);
    made.take(object('a', '1'));
    expect(told).toBe(1);
    expect(failures).toHaveLength(1);
  });

  it('drops managed fields and the copy of the manifest, and what the caller does not keep', () => {
    const { made } = cache({ keep: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }) });
    made.take({
      ...object('a', '1', {
        managedFields: [{}],
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', other: 'x' },
      }),
      spec: {},
    });
    expect(made.get('red', 'a')).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', namespace: 'red', uid: 'uid-a', resourceVersion: '1', annotations: { other: 'x' } },
    });
  });
});
