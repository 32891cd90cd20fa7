import { describe, expect, it } from 'vitest';
import { EventRecorder, type KubeEvent } from './events.ts';
import { KubeError, type KubeObject } from './kube-api.ts';

const regarding = {
  apiVersion: 'coffer.dev/v1alpha1',
  kind: 'Tenant',
  metadata: { name: 'demo', namespace: 'red', uid: 'u' },
};
const news: KubeEvent = { regarding, type: 'Normal', reason: 'Starting', message: 'starts demo' };

function start(refuse?: () => KubeError | undefined) {
  const created: KubeObject[] = [];
  const patched: { readonly name: string; readonly patch: unknown }[] = [];
  const failures: unknown[] = [];
  let now = Date.parse('2026-01-01T00:00:00.123Z');
  const recorder = new EventRecorder({
    api: {
      create: async (object) => {
        created.push(object);
        return object;
      },
      patch: async (_type, _namespace, name, patch) => {
        const error = refuse?.();
        if (error !== undefined) throw error;
        patched.push({ name, patch });
        return created[0] as KubeObject;
      },
    },
    now: () => new Date(now),
    instance: 'operator-0',
    failed: (error) => failures.push(error),
  });
  return { recorder, created, patched, failures, wait: (ms: number) => (now += ms) };
}

describe('EventRecorder', () => {
  it('writes what an Event of events.k8s.io/v1 needs, in the namespace of its object', async () => {
    const { recorder, created } = start();
    recorder.record(news);
    await recorder.flush();
    expect(created).toEqual([
      {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name: expect.stringMatching(/^demo\.[0-9a-f]{16}$/), namespace: 'red' },
        eventTime: '2026-01-01T00:00:00.123000Z',
        type: 'Normal',
        reason: 'Starting',
        action: 'Reconcile',
        note: 'starts demo',
        reportingController: 'coffer.dev/operator',
        reportingInstance: 'operator-0',
        regarding: { apiVersion: regarding.apiVersion, kind: 'Tenant', name: 'demo', namespace: 'red', uid: 'u' },
      },
    ]);
  });

  it('counts the same news up', async () => {
    const { recorder, created, patched, wait } = start();
    recorder.record(news);
    await recorder.flush();
    wait(60_000);
    recorder.record(news);
    recorder.record(news);
    await recorder.flush();
    expect(created).toHaveLength(1);
    expect(patched).toEqual([
      {
        name: created[0]?.metadata.name,
        patch: { series: { count: 3, lastObservedTime: '2026-01-01T00:01:00.123000Z' } },
      },
    ]);
  });

  it('tells the same news anew after ten minutes', async () => {
    const { recorder, created, wait } = start();
    recorder.record(news);
    wait(10 * 60_000);
    recorder.record(news);
    await recorder.flush();
    expect(created).toHaveLength(2);
  });

  it('writes it again when the server has forgotten it', async () => {
    const { recorder, created } = start(() => new KubeError(404, 'NotFound', 'gone'));
    recorder.record(news);
    await recorder.flush();
    recorder.record(news);
    await recorder.flush();
    expect(created[1]).toMatchObject({ series: { count: 2 } });
  });

  it('writes a burst of different news about one object, and no more, while others are still heard', async () => {
    const { recorder, created, wait } = start();
    for (let index = 0; index < 100; index++) recorder.record({ ...news, message: `news ${index}` });
    recorder.record({
      ...news,
      regarding: { ...regarding, metadata: { ...regarding.metadata, name: 'other', uid: 'v' } },
    });
    await recorder.flush();
    expect(created).toHaveLength(26);
    wait(120_000);
    for (let index = 0; index < 9; index++) recorder.record({ ...news, message: `later ${index}` });
    await recorder.flush();
    expect(created).toHaveLength(28);
  });

  it('shortens a long note by bytes', async () => {
    const { recorder, created } = start();
    recorder.record({ ...news, message: '😀'.repeat(600) });
    await recorder.flush();
    const note = String(created[0]?.['note']);
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024);
    expect(note.endsWith('…')).toBe(true);
  });

  it('tells that an event was not written, and goes on', async () => {
    const { recorder, created, failures } = start(() => new KubeError(403, 'Forbidden', 'no'));
    recorder.record(news);
    await recorder.flush();
    recorder.record(news);
    recorder.record({ ...news, reason: 'Other' });
    await recorder.flush();
    expect(failures).toHaveLength(1);
    expect(created).toHaveLength(2);
  });
});
