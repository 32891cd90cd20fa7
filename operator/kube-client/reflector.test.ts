import { afterEach, describe, expect, it, vi } from 'vitest';
import { Reflector } from './reflector.ts';
import {
  KubeError,
  watchInactivityMs,
  type KubeApi,
  type KubeList,
  type KubeObject,
  type ResourceType,
  type WatchEvent,
} from './kube-api.ts';
import { ResourceCache } from './resource-cache.ts';
import { resourceTypes } from './resource-types.ts';

const object = (name: string, resourceVersion: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'red', resourceVersion },
});
const fail = () => {
  throw new KubeError(500, 'InternalError', 'no');
};
const gone = () => new KubeError(410, 'Expired', 'too old');

type ListCall = Parameters<KubeApi['list']>[1];
type WatchCall = Parameters<KubeApi['watch']>[1];

let reflector: Reflector | undefined;
afterEach(async () => reflector?.stop());

/** Lists and watches answer in the order of the scripts; a watch beyond them stays open until it is aborted. */
function start(
  lists: readonly (() => KubeList)[],
  watches: readonly (() => Iterable<WatchEvent>)[],
  namespaces?: readonly string[],
  {
    type = resourceTypes.secret,
    random = () => 0,
  }: { readonly type?: ResourceType; readonly random?: () => number } = {},
) {
  const listed: ListCall[] = [];
  const watched: WatchCall[] = [];
  const restarts: unknown[] = [];
  const cache = new ResourceCache(type, {
    ...(namespaces === undefined ? {} : { namespaces }),
    failed: (error) => restarts.push(error),
  });
  reflector = new Reflector({
    api: {
      list: async (_type, options) => {
        listed.push(options);
        return (lists[listed.length - 1] ?? lists.at(-1))?.() ?? { items: [], resourceVersion: '0' };
      },
      watch: async function* (_type, options) {
        watched.push(options);
        const script = watches[watched.length - 1];
        if (script !== undefined) yield* script();
        else await new Promise((resolve) => options.signal?.addEventListener('abort', resolve));
      },
    },
    cache,
    fieldSelector: 'type!=helm.sh/release.v1',
    random,
    restarted: (error) => restarts.push(error),
    timing: { firstMs: 1, maxMs: 2, pageSize: 2 },
  });
  reflector.start();
  return { cache, listed, watched, restarts };
}

const names = (cache: ResourceCache) => cache.list().map(({ metadata }) => metadata.name);

describe('Reflector', () => {
  it('lists page by page, then watches from the version of the list', async () => {
    const { cache, listed, watched } = start(
      [
        () => ({ items: [object('a', '1'), object('b', '2')], resourceVersion: '10', continue: 'next' }),
        () => ({ items: [object('c', '3')], resourceVersion: '10' }),
      ],
      [],
    );
    await cache.synced();
    await vi.waitFor(() => expect(watched).toHaveLength(1));
    expect(names(cache)).toEqual(['a', 'b', 'c']);
    expect(listed.map((call) => [call.limit, call.continue])).toEqual([
      [2, undefined],
      [2, 'next'],
    ]);
    expect(watched[0]).toMatchObject({
      resourceVersion: '10',
      timeoutSeconds: 300,
      fieldSelector: 'type!=helm.sh/release.v1',
    });
  });

  it('begins a list again that grew too old between two pages', async () => {
    const { cache, listed } = start(
      [
        () => ({ items: [object('old', '1')], resourceVersion: '10', continue: 'next' }),
        () => {
          throw gone();
        },
        () => ({ items: [object('a', '11')], resourceVersion: '20' }),
      ],
      [],
    );
    await cache.synced();
    expect(names(cache)).toEqual(['a']);
    expect(listed[2]?.continue).toBeUndefined();
  });

  it('follows events, and goes on after them from the last bookmark', async () => {
    const { cache, watched } = start(
      [() => ({ items: [object('a', '1')], resourceVersion: '10' })],
      [
        () => [
          { type: 'ADDED', object: object('b', '11') },
          { type: 'DELETED', object: object('a', '12') },
          { type: 'BOOKMARK', resourceVersion: '40' },
        ],
      ],
    );
    await vi.waitFor(() => expect(watched).toHaveLength(2));
    expect(names(cache)).toEqual(['b']);
    expect(watched[1]?.resourceVersion).toBe('40');
  });

  it('lists again when the server has forgotten the version, and finds what it missed', async () => {
    const { cache, watched, restarts } = start(
      [
        () => ({ items: [object('a', '1')], resourceVersion: '10' }),
        () => ({ items: [object('b', '15')], resourceVersion: '20' }),
      ],
      [
        () => {
          throw gone();
        },
      ],
    );
    await vi.waitFor(() => expect(watched).toHaveLength(2));
    expect(names(cache)).toEqual(['b']);
    expect(watched[1]?.resourceVersion).toBe('20');
    expect(restarts).toHaveLength(1);
  });

  it('watches on from where it was after a broken connection', async () => {
    const { listed, watched } = start(
      [() => ({ items: [], resourceVersion: '10' })],
      [
        function* () {
          yield { type: 'ADDED', object: object('a', '11') } as const;
          throw new KubeError(undefined, 'Unreachable', 'reset');
        },
      ],
    );
    await vi.waitFor(() => expect(watched).toHaveLength(2));
    expect(watched[1]?.resourceVersion).toBe('11');
    expect(listed).toHaveLength(1);
  });

  it('lists again after a few watches that end at once', async () => {
    const { listed, watched } = start([() => ({ items: [], resourceVersion: '10' })], [() => [], () => [], () => []]);
    await vi.waitFor(() => expect(watched).toHaveLength(4));
    expect(listed).toHaveLength(2);
  });

  it('asks the server to end a watch of events before it counts as dead', async () => {
    const { watched } = start([() => ({ items: [], resourceVersion: '10' })], [], undefined, {
      type: resourceTypes.coreEvent,
      random: () => 0.999,
    });
    await vi.waitFor(() => expect(watched).toHaveLength(1));
    const [{ timeoutSeconds = Infinity } = {}] = watched;
    expect(timeoutSeconds * 1_000).toBeLessThan(watchInactivityMs);
  });

  it('lists again without a report when the version of a quiet watch of events is too old', async () => {
    const { listed, watched, restarts } = start(
      [() => ({ items: [], resourceVersion: '10' }), () => ({ items: [], resourceVersion: '20' })],
      [
        () => [],
        () => {
          throw gone();
        },
      ],
      undefined,
      { type: resourceTypes.coreEvent },
    );
    await vi.waitFor(() => expect(watched).toHaveLength(3));
    expect(watched[2]?.resourceVersion).toBe('20');
    expect(listed).toHaveLength(2);
    expect(restarts).toEqual([]);
  });

  it('keeps trying a list that fails', async () => {
    const { cache, restarts } = start(
      [fail, fail, fail, () => ({ items: [object('a', '1')], resourceVersion: '1' })],
      [],
    );
    await cache.synced();
    expect(names(cache)).toEqual(['a']);
    expect(restarts).toHaveLength(3);
  });

  it('goes on when a listener throws', async () => {
    const { cache } = start(
      [() => ({ items: [object('a', '1')], resourceVersion: '10' })],
      [() => [{ type: 'ADDED', object: object('b', '11') }]],
    );
    cache.onChange(() => {
      throw new Error('listener');
    });
    await vi.waitFor(() => expect(names(cache)).toEqual(['a', 'b']));
  });

  it('follows each of its namespaces by itself', async () => {
    const { cache, listed } = start([() => ({ items: [], resourceVersion: '1' })], [], ['red', 'blue']);
    await cache.synced();
    expect(listed.map(({ namespace }) => namespace)).toEqual(['red', 'blue']);
  });
});
