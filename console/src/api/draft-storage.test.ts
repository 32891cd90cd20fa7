import { describe, expect, it } from 'vitest';
import { Drafts, type DraftStore } from './draft-storage.ts';

function store(): DraftStore & { readonly entries: Map<string, string> } {
  const entries = new Map<string, string>();
  return {
    entries,
    get length() {
      return entries.size;
    },
    key: (index) => [...entries.keys()][index] ?? null,
    getItem: (name) => entries.get(name) ?? null,
    setItem: (name, value) => void entries.set(name, value),
    removeItem: (name) => void entries.delete(name),
  };
}

function draftsOf(owner: string, at: DraftStore, build = 'one'): Drafts {
  const drafts = new Drafts(at, build);
  drafts.belongTo(owner);
  return drafts;
}

describe('a draft', () => {
  it('is read after a reload by the user who wrote it', () => {
    const at = store();
    draftsOf('ann', at).write('/users name', 'bo');
    expect(draftsOf('ann', at).read('/users name')?.value).toBe('bo');
  });

  it('is removed when another user comes', () => {
    const at = store();
    draftsOf('ann', at).write('/users name', 'bo');
    expect(draftsOf('eve', at).read('/users name')).toBeUndefined();
    expect(at.entries.size).toBe(0);
  });

  it('is not read by another build of the console', () => {
    const at = store();
    draftsOf('ann', at).write('/users name', 'bo');
    expect(draftsOf('ann', at, 'two').read('/users name')).toBeUndefined();
  });

  it('is removed with all others, and nothing else is', () => {
    const at = store();
    at.setItem('theme', 'dark');
    const drafts = draftsOf('ann', at);
    drafts.write('a', 1);
    drafts.write('b', { text: 'x' });
    drafts.clear();
    expect([...at.entries.keys()]).toEqual(['theme']);
  });

  it('is given up where the storage is full or forbidden', () => {
    const full: DraftStore = {
      ...store(),
      setItem: () => {
        throw new Error('QuotaExceededError');
      },
    };
    const drafts = draftsOf('ann', full);
    drafts.write('a', 1);
    expect(drafts.read('a')).toBeUndefined();
    const none = new Drafts(undefined, 'one');
    none.write('a', 1);
    expect(none.read('a')).toBeUndefined();
  });

  it('that is damaged counts as none', () => {
    const at = store();
    at.setItem('coffer-draft a', '{');
    expect(draftsOf('ann', at).read('a')).toBeUndefined();
  });
});
