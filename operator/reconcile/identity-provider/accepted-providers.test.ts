import { describe, expect, it } from 'vitest';
import { AcceptedProviders, type Acceptance } from './accepted-providers.ts';
import { provider } from '../../../test/support/operator/reconciler-harness.ts';

function store(kept = new Map<string, string>()) {
  const writes: string[] = [];
  return {
    kept,
    writes,
    load: () => kept,
    save: (name: string, text: string) => {
      writes.push(`save ${name}`);
      kept.set(name, text);
      return Promise.resolve();
    },
    remove: (name: string) => {
      writes.push(`remove ${name}`);
      kept.delete(name);
      return Promise.resolve();
    },
  };
}
const acceptance = (digest = '1'): Acceptance => ({ provider: provider('a'), clientSecret: 'secret', digest });

describe('accepted providers', () => {
  it('are read back as they were kept', async () => {
    const first = store();
    await new AcceptedProviders(first).accept(acceptance());
    expect(new AcceptedProviders(store(first.kept)).get('a')).toEqual(acceptance());
  });
  it('are kept each by itself, and only when they changed', async () => {
    const kept = store();
    const accepted = new AcceptedProviders(kept);
    await accepted.accept(acceptance());
    await accepted.accept(acceptance());
    await accepted.accept(acceptance('2'));
    await accepted.forget('a');
    await accepted.forget('a');
    expect(kept.writes).toEqual(['save a', 'save a', 'remove a']);
  });
  it('are not accepted when they could not be kept', async () => {
    const accepted = new AcceptedProviders({ ...store(), save: () => Promise.reject(new Error('disk full')) });
    await expect(accepted.accept(acceptance())).rejects.toThrow('disk full');
    expect(accepted.get('a')).toBeUndefined();
  });
  it.each(['', '{', '{"digest": 1}'])('that read %j are as good as none', (text) => {
    expect(new AcceptedProviders(store(new Map([['a', text]]))).get('a')).toBeUndefined();
  });
  it('give the renderer their own copy of the client secret', async () => {
    const accepted = new AcceptedProviders(store());
    await accepted.accept(acceptance());
    const kept = accepted.rendered('a')?.kept;
    expect(accepted.secret('a')).toEqual({ name: kept?.name, data: { [kept?.key ?? '']: 'secret' } });
  });
});
