import { describe, expect, it } from 'vitest';
import { speedFailure } from './speed-failure.ts';

const away = 'the site b (http://b) cannot be reached';

describe('the failure of a measurement', () => {
  it.each([
    ['of the only server', { nodeResults: [{ endpoint: 'a', tx: 0, rx: 0, error: 'another runs' }] }, 'another runs'],
    ['of each site, once', { nodeResults: [{ error: away }, { error: away }] }, away],
    ['of a drive', { drivePerf: [{ path: '/data', error: 'no space left' }] }, 'no space left'],
  ])('is that %s', (_name, result, reason) => expect(speedFailure(result)).toBe(reason));

  it.each([
    [
      'of another site',
      {
        nodeResults: [
          { tx: 1, rx: 1 },
          { tx: 0, rx: 0, error: away },
        ],
      },
    ],
    ['of objects', { PUTStats: {}, GETStats: {} }],
    ['of nothing', null],
  ])('is absent in a result %s', (_name, result) => expect(speedFailure(result)).toBeUndefined());
});
