import { describe, expect, it } from 'vitest';
import { Bodies, Objects } from './objects.ts';
import { mixedRequests } from './loads.ts';

const bodies = new Bodies(64);
const { requests, written, deleted } = mixedRequests(
  8_000,
  new Objects('r', 2_000, bodies),
  new Objects('c', 9_999, bodies),
);

function share(method: string): number {
  return requests.filter((request) => request.method === method).length / requests.length;
}

describe('the mixed load', () => {
  it('has the shares that it is named for', () => {
    expect(['GET', 'HEAD', 'PUT', 'DELETE'].map(share)).toEqual([0.45, 0.3, 0.15, 0.1]);
  });

  it('deletes no object that a connection may still be writing', () => {
    const putAt = new Map(requests.flatMap(({ method, path }, at) => (method === 'PUT' ? [[path, at] as const] : [])));
    const distances = requests.flatMap(({ method, path }, at) =>
      method === 'DELETE' && putAt.has(path) ? [at - putAt.get(path)!] : [],
    );
    expect(distances.filter((distance) => distance <= 256)).toEqual([]);
  });

  it('knows which objects are there after any number of requests', () => {
    expect([written(0), deleted(0)]).toEqual([512, 0]);
    expect([written(8_000), deleted(8_000)]).toEqual([512 + 1_200, 800]);
  });
});
