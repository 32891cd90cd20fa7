import { describe, expect, it } from 'vitest';
import { callbackOf } from './callback-address.ts';

describe('the address that a provider sends browsers back to', () => {
  it.each([
    ['https://console.example:443', 'https://console.example/oauth_callback'],
    ['http://console.example:80/', 'http://console.example/oauth_callback'],
    ['https://console.example:443/ui/', 'https://console.example/ui/oauth_callback'],
    ['https://[::1]:443', 'https://[::1]/oauth_callback'],
    ['https://[::443]', 'https://[::443]/oauth_callback'],
    ['https://console.example:80', 'https://console.example:80/oauth_callback'],
    ['http://console.example:443', 'http://console.example:443/oauth_callback'],
    ['https://console.example:4430', 'https://console.example:4430/oauth_callback'],
  ])('of %s is %s', (base, expected) => {
    expect(callbackOf(base)).toBe(expected);
  });
});
