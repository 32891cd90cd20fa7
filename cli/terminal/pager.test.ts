import { describe, expect, it } from 'vitest';
import { pagerCommand } from './pager.ts';

describe('the pager', () => {
  it.each<[NodeJS.ProcessEnv, readonly string[] | undefined]>([
    [{}, ['less']],
    [{ PAGER: 'more -d' }, ['more', '-d']],
    [{ PAGER: '' }, undefined],
    [{ PAGER: 'cat' }, undefined],
    [{ MC_DISABLE_PAGER: 'on' }, undefined],
    [{ MC_DISABLE_PAGER: '0' }, ['less']],
  ])('of %j is %j', (env, words) => {
    expect(pagerCommand(env)).toEqual(words);
  });
});
