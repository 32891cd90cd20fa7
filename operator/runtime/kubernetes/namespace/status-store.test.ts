import { describe, expect, it } from 'vitest';
import { KubeError, type KubeObject } from '../../../kube-client/kube-api.ts';
import type { ResourceStatus } from '../../../reconcile/conditions.ts';
import { KubernetesStatus } from './status-store.ts';

const ref = { kind: 'Tenant', name: 'demo' } as const;

const atOnce = () => Promise.resolve();

function start(generation = 3) {
  let object: KubeObject | undefined = {
    apiVersion: 'coffer.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name: 'demo', namespace: 'red', generation, resourceVersion: '1' },
  };
  const written: KubeObject[] = [];
  const set = (change: Partial<KubeObject['metadata']> | undefined) => {
    object = object && change && { ...object, metadata: { ...object.metadata, ...change } };
  };
  let answer = atOnce;
  const status = new KubernetesStatus({
    api: {
      applyStatus: async (sent) => {
        await answer();
        written.push(sent);
        return { ...(object as KubeObject), status: sent['status'] };
      },
    },
    object: () => object,
    cache: () => ({ wrote: (now) => (object = now) }),
    now: () => new Date('2026-01-01T00:00:00Z'),
  });
  return { status, written, set, answerBy: (next: () => Promise<void>) => (answer = next) };
}

const good = (generation: number): ResourceStatus => ({
  observedGeneration: generation,
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Ready',
      message: '',
      observedGeneration: generation,
      lastTransitionTime: '2026-01-01T00:00:00.000Z',
    },
  ],
});

describe('KubernetesStatus', () => {
  it('applies the status alone, without labels or spec', async () => {
    const { status, written } = start();
    await status.put(ref, good(3));
    expect(written).toEqual([
      {
        apiVersion: 'coffer.dev/v1alpha1',
        kind: 'Tenant',
        metadata: { name: 'demo', namespace: 'red' },
        status: good(3),
      },
    ]);
  });

  it('writes nothing when nothing changed', async () => {
    const { status, written } = start();
    await status.put(ref, good(3));
    await status.put(ref, good(3));
    expect(written).toHaveLength(1);
    expect(status.get(ref)).toEqual(good(3));
  });

  it('says Ready=Unknown of what nobody looked at yet, once', async () => {
    const { status, written } = start();
    await status.initialStatus(ref);
    await status.initialStatus(ref);
    expect(written).toHaveLength(1);
    expect(written[0]?.['status']).toMatchObject({
      observedGeneration: 3,
      conditions: [
        { type: 'Ready', status: 'Unknown' },
        { type: 'Reconciling', status: 'True' },
      ],
    });
  });

  it('never lets the first word come after the last', async () => {
    const { status, written, answerBy } = start();
    const gate = Promise.withResolvers<void>();
    answerBy(() => gate.promise);
    const greeted = status.initialStatus(ref);
    const put = status.put(ref, good(3));
    gate.resolve();
    await Promise.all([greeted, put]);
    expect(written.at(-1)?.['status']).toEqual(good(3));
  });

  it('speaks of the generation that a pass began with', async () => {
    const { status, set } = start(3);
    await status.during(ref, async () => {
      set({ generation: 4 });
      expect(status.generation(ref)).toBe(3);
    });
    expect(status.generation(ref)).toBe(4);
  });

  it('lets an object go that vanished meanwhile', async () => {
    const { status, answerBy } = start();
    answerBy(() => Promise.reject(new KubeError(404, 'NotFound', 'gone')));
    await expect(status.put(ref, good(3))).resolves.toBeUndefined();
  });

  it('tells every other error, and can write again', async () => {
    const { status, written, answerBy } = start();
    answerBy(() => Promise.reject(new KubeError(500, 'InternalError', 'no')));
    await expect(status.put(ref, good(3))).rejects.toThrow('no');
    answerBy(atOnce);
    await status.put(ref, good(3));
    expect(written).toHaveLength(1);
  });
});
