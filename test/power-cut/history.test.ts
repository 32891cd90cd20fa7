import { describe, expect, it } from 'vitest';
import { History } from './history.ts';

/** `b/k` had a content, lost it by a rename, and gets it back by another one that has no answer yet. */
function movedAwayAndBack(): History {
  let length = 0;
  const history = new History(() => (length += 10));
  history.begin('b/k', 'content'); // 10
  history.acknowledge('b/k'); // 20
  history.begin('b/k', undefined); // 30
  history.acknowledge('b/k'); // 40
  history.begin('b/k', 'content'); // 50
  return history;
}

describe('what a reader had seen', () => {
  const sighting = { key: 'b/k', content: 'content', seen: 55 };

  it('may be gone, where the reader asked before it was moved away', () => {
    expect(movedAwayAndBack().allowedAfterSighting({ ...sighting, asked: 35 })).toContain(undefined);
  });

  it('stays, where the reader asked after that', () => {
    expect(movedAwayAndBack().allowedAfterSighting({ ...sighting, asked: 45 })).toEqual(['content']);
  });
});
