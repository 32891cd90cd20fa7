import { expect, it } from 'vitest';
import { canonicalQuery } from './canonical-query.ts';

it('sorts parameters by their encoded names, then values, and gives each an equals sign', () => {
  expect(canonicalQuery('b=2&a&B=1&b=1&&a-=x&a=%20&X-Amz-Signature=s')).toBe('B=1&a=&a=%20&a-=x&b=1&b=2');
});
