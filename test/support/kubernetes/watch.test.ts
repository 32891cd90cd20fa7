import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KubernetesDouble } from './kubernetes-double.ts';

interface Event {
  readonly type: string;
  readonly object: {
    readonly code?: number;
    readonly metadata: { readonly name?: string; readonly resourceVersion?: string };
  };
}

let double: KubernetesDouble;

beforeEach(async () => {
  double = await KubernetesDouble.start({ bookmarkMs: 20 });
});
afterEach(() => double.stop());

/** Reads events until one is as wanted, or the watch ends. */
async function watch(
  since: string,
  enough: (events: readonly Event[]) => boolean,
  query = '',
  plural = 'configmaps',
): Promise<Event[]> {
  const response = await open(since, query, null, plural);
  const events: Event[] = [];
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    events.push(...lines.map((line) => JSON.parse(line) as Event));
    if (enough(events)) break;
  }
  return events;
}

function open(since: string, query = '', signal: AbortSignal | null = null, plural = 'configmaps'): Promise<Response> {
  const path = `/api/v1/namespaces/default/${plural}?watch=true&resourceVersion=${since}${query}`;
  return fetch(`${double.url}${path}`, { headers: { authorization: `Bearer ${double.token}` }, signal });
}

function put(name: string, text = 'x', labels: Record<string, string> = {}): string {
  const object = double.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data: { text } });
  return object.metadata.resourceVersion ?? '';
}

function names(events: readonly Event[]): string[] {
  return events.map(({ type, object }) => `${type} ${object.metadata.name}`);
}

describe('a watch', () => {
  it('tells changes since a version, in order', async () => {
    const since = put('a');
    put('b');
    put('a', 'y');
    double.delete('configmaps', 'default', 'b');
    const events = await watch(since, (seen) => seen.length === 3);
    expect(names(events)).toEqual(['ADDED b', 'MODIFIED a', 'DELETED b']);
  });

  it('tells what comes into and falls out of a selector as added and deleted', async () => {
    const since = put('a');
    put('a', 'x', { in: 'yes' });
    put('a', 'x', { in: 'no' });
    const events = await watch(since, (seen) => seen.length === 2, '&labelSelector=in%3Dyes');
    expect(names(events)).toEqual(['ADDED a', 'DELETED a']);
  });

  it('sends bookmarks of the current version', async () => {
    const since = put('a');
    const isLater = ({ type, object }: Event): boolean =>
      type === 'BOOKMARK' && Number(object.metadata.resourceVersion) > Number(since);
    const watching = watch(since, (seen) => seen.some(isLater), '&allowWatchBookmarks=true');
    const { metadata } = double.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'other' } });
    expect((await watching).at(-1)?.object.metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  it('sends no bookmarks of events, for which a real server has no watch cache', async () => {
    const query = '&allowWatchBookmarks=true&timeoutSeconds=0.01';
    expect(await watch(put('a'), () => false, query, 'events')).toEqual([]);
  });

  it('is 410 from a version that is too old', async () => {
    const since = put('a');
    put('b');
    double.compact();
    expect((await open(since)).status).toBe(410);
  });

  it('ends at its timeout', async () => {
    expect(await watch(put('a'), () => false, '&timeoutSeconds=0.01')).toEqual([]);
  });
});

describe('faults', () => {
  it('cut a watch into bytes', async () => {
    double.faults.splitChunks = true;
    const since = put('a');
    put('b', 'Käse');
    const events = await watch(since, (seen) => seen.length === 1);
    expect(JSON.stringify(events)).toContain('Käse');
  });

  it('silence a watch for ever, and not those opened later', async () => {
    const since = put('a');
    const stop = new AbortController();
    const silent = await open(since, '', stop.signal);
    double.faults.silentWatches = true;
    double.faults.silentWatches = false;
    put('b');
    expect(names(await watch(since, (seen) => seen.length === 1))).toEqual(['ADDED b']);
    const first = silent.body?.getReader().read();
    expect(await Promise.race([first, new Promise((resolve) => setImmediate(() => resolve('nothing')))])).toBe(
      'nothing',
    );
    first?.catch(() => undefined);
    stop.abort();
  });

  it('hold events back and send them later', async () => {
    const since = put('a');
    double.faults.heldWatches = true;
    const watching = watch(since, (seen) => seen.length === 1);
    put('b');
    double.faults.heldWatches = false;
    expect(names(await watching)).toEqual(['ADDED b']);
  });

  it('send an ERROR event', async () => {
    double.faults.gone('watch-event', 1);
    const [event] = await watch(put('a'), () => false);
    expect([event?.type, event?.object.code]).toEqual(['ERROR', 410]);
  });

  it('do a write and lose its answer', async () => {
    double.faults.loseAnswers(1);
    const path = `${double.url}/api/v1/namespaces/default/configmaps`;
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
    const headers = { authorization: `Bearer ${double.token}` };
    await expect(fetch(path, { method: 'POST', headers, body })).rejects.toThrow();
    expect(double.get('configmaps', 'default', 'a')).toBeDefined();
  });

  it('answer 429 with Retry-After', async () => {
    double.faults.tooManyRequests(1, 7);
    const response = await open('1');
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
  });

  it('take the whole server away and bring it back at the same address', async () => {
    const since = put('a');
    await double.goDown();
    await expect(open(since)).rejects.toThrow();
    await double.comeBack();
    put('b');
    expect(names(await watch(since, (seen) => seen.length === 1))).toEqual(['ADDED b']);
  });
});
