import { expect, it } from 'vitest';
import { addressOf } from './redis.ts';

it.each([
  ['redis:6380', 'redis', 6380],
  ['redis', 'redis', 6379],
  ['127.0.0.1:1', '127.0.0.1', 1],
  ['[::1]:6380', '::1', 6380],
  ['[fe80::1]', 'fe80::1', 6379],
])('the address %s of Redis is read', (text, host, port) => {
  expect(addressOf(text)).toEqual({ host, port });
});
