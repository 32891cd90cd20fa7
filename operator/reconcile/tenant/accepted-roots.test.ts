import { describe, expect, it } from 'vitest';
import { afterRollout, beforeRollout, formerMs, type AcceptedRoot } from './accepted-roots.ts';

const old = { rootUser: 'admin', rootPassword: 'old' };
const next = { rootUser: 'admin', rootPassword: 'next' };
const last = { rootUser: 'admin', rootPassword: 'last' };
const only = (accepted: typeof old): AcceptedRoot => ({ accepted, former: undefined, formerUntil: undefined });

describe('the root credentials that servers take', () => {
  it('are those of the Secret where nothing is known of before', () => {
    expect(beforeRollout(undefined, old, 0)).toEqual(only(old));
  });

  it('stay those of before while servers are replaced, and new servers are told both', () => {
    const rolling = { accepted: old, former: old, formerUntil: undefined };
    expect(beforeRollout(only(old), next, 0)).toEqual(rolling);
    expect(beforeRollout(rolling, next, 1)).toEqual(rolling);
    // Changed again before the rollout ended: some servers have the first pair alone still.
    expect(beforeRollout(rolling, last, 2)).toEqual(rolling);
  });

  it('are the new ones when every server has them, beside the former ones for a while', () => {
    const settled = afterRollout({ accepted: old, former: old, formerUntil: undefined }, next, 5_000);
    expect(settled).toEqual({ accepted: next, former: old, formerUntil: 5_000 + formerMs });
    expect(afterRollout(settled, next, 6_000)).toEqual(settled);
    expect(beforeRollout(settled, next, 5_000 + formerMs - 1)).toEqual(settled);
    expect(beforeRollout(settled, next, 5_000 + formerMs)).toEqual(only(next));
  });

  it('are the old ones alone where the change is taken back', () => {
    expect(beforeRollout({ accepted: old, former: old, formerUntil: undefined }, old, 0)).toEqual(only(old));
  });
});
