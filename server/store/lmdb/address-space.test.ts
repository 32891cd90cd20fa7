import { expect, it } from 'vitest';
import { addressSpace } from './address-space.ts';

const files = (limit: string) => (path: string) =>
  path.endsWith('limits')
    ? `Max file locks            unlimited            unlimited            locks\nMax address space         ${limit}            unlimited            bytes\n`
    : 'Name:\tnode\nVmPeak:\t 3000 kB\nVmSize:\t 2000 kB\n';

it('tells the limit of the address space and what is used of it', () => {
  expect(addressSpace(files('4096000'))).toEqual({ limit: 4_096_000, used: 2_048_000 });
});

it('tells nothing where there is no limit, or no /proc', () => {
  expect(addressSpace(files('unlimited'))).toBeUndefined();
  expect(
    addressSpace(() => {
      throw new Error('ENOENT');
    }),
  ).toBeUndefined();
});
