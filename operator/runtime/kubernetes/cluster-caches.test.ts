import { expect, it, vi } from 'vitest';
import {
  watchInactivityMs,
  type KubeApi,
  type KubeList,
  type ResourceType,
  type WatchEvent,
  type WatchOptions,
} from '../../kube-client/kube-api.ts';
import { ClusterCaches } from './cluster-caches.ts';

/** One object of each type. Another field manager has written into its spec, as the volume controller does with a claim. */
const api: Pick<KubeApi, 'list' | 'watch'> = {
  list: (type: ResourceType): Promise<KubeList> => {
    const managedFields = [{ manager: 'other', operation: 'Update', fieldsV1: { 'f:spec': { 'f:volumeName': {} } } }];
    const metadata = { name: 'one', namespace: 'default', managedFields };
    return Promise.resolve({
      items: [{ apiVersion: type.apiVersion, kind: type.kind, metadata }],
      resourceVersion: '1',
    });
  },
  async *watch(_type, { signal }): AsyncGenerator<WatchEvent> {
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    yield* [];
  },
};

it('remembers the fields of others only for types whose spec the operator keeps as rendered', async () => {
  const caches = new ClusterCaches({
    api: api as KubeApi,
    namespaces: undefined,
    random: () => 0,
    restarted: () => undefined,
    failed: (error) => {
      throw error;
    },
  });
  caches.start();
  const remembered: string[] = [];
  for (const [name, cache] of caches.entries()) {
    await cache.synced();
    if (cache.get('default', 'one')?.metadata.foreign !== undefined) remembered.push(name);
  }
  await caches.stop();
  expect(remembered).toEqual(
    expect.arrayContaining(['statefulSets', 'services', 'networkPolicies', 'ingresses', 'podDisruptionBudgets']),
  );
  expect(remembered).not.toContain('persistentVolumeClaims');
  expect(remembered).not.toContain('pods');
});

it('asks for short watches of events, of which the API server sends no bookmarks', async () => {
  const seconds = new Map<string, number>();
  const caches = new ClusterCaches({
    api: {
      ...api,
      watch: (type: ResourceType, options: WatchOptions) => {
        seconds.set(type.plural, options.timeoutSeconds ?? Infinity);
        return api.watch(type, options);
      },
    } as KubeApi,
    namespaces: undefined,
    random: () => 0.999,
    restarted: () => undefined,
    failed: (error) => {
      throw error;
    },
  });
  caches.start();
  await vi.waitFor(() => expect(seconds.size).toBe(caches.entries().length));
  await caches.stop();
  const short = [...seconds].filter(([, timeout]) => timeout * 1_000 < watchInactivityMs);
  expect(short.map(([plural]) => plural)).toEqual(['events']);
});
