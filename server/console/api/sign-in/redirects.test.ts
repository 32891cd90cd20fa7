import { describe, expect, it } from 'vitest';
import { redirectUri, usedUrl, safeReturnPath } from './redirects.ts';
import * as fc from 'fast-check';

describe('redirectUri', () => {
  const all = {
    dynamic: true,
    fixed: 'https://fixed.example/oauth_callback',
    browserUrl: 'https://proxy.example/console/',
    ownUrl: 'http://127.0.0.1:9090',
    usedUrl: 'http://used.example:9090',
    allowedHosts: [],
  };
  it.each([
    ['the address used, where that is switched on', {}, 'http://used.example:9090/oauth_callback'],
    ['the one fixed for the provider', { dynamic: false }, 'https://fixed.example/oauth_callback'],
    [
      'the address of the proxy, its path included',
      { dynamic: false, fixed: undefined },
      'https://proxy.example/console/oauth_callback',
    ],
    [
      'the address it listens on',
      { dynamic: false, fixed: undefined, browserUrl: undefined },
      'http://127.0.0.1:9090/oauth_callback',
    ],
    [
      'the address used, where it listens on every address',
      { dynamic: false, fixed: undefined, browserUrl: undefined, ownUrl: undefined },
      'http://used.example:9090/oauth_callback',
    ],
  ])('is %s', (_name, change, expected) => {
    expect(redirectUri({ ...all, ...change })).toBe(expected);
  });
});

describe('a dynamic redirect', () => {
  const choice = {
    dynamic: true,
    fixed: undefined,
    browserUrl: 'https://proxy.example/console',
    ownUrl: undefined,
    usedUrl: 'https://a.console.example:9443',
  };
  const used = 'https://a.console.example:9443/oauth_callback';
  const proxy = 'https://proxy.example/console/oauth_callback';
  it.each([
    [[], used],
    [['a.console.example'], used],
    [['A.Console.example:9443'], used],
    [['*.console.example'], used],
    [['a.console.example:443'], proxy],
    [['console.example'], proxy],
    [['*.a.console.example'], proxy],
    [['other.example', '*.example.com'], proxy],
  ])('to hosts %j leads to %s', (allowedHosts, expected) => {
    expect(redirectUri({ ...choice, allowedHosts })).toBe(expected);
  });

  it('may lead to the configured public URL, whatever hosts are allowed', () => {
    const usedUrl = 'http://proxy.example';
    expect(redirectUri({ ...choice, usedUrl, allowedHosts: ['x'] })).toBe('http://proxy.example/oauth_callback');
  });
});

describe('usedUrl', () => {
  it.each([
    [{ host: 'a.example', forwardedProto: undefined, encrypted: false }, 'http://a.example'],
    [{ host: 'a.example:9090', forwardedProto: undefined, encrypted: true }, 'https://a.example:9090'],
    [{ host: 'a.example', forwardedProto: 'https, http', encrypted: false }, 'https://a.example'],
    [{ host: 'a.example', forwardedProto: 'javascript', encrypted: false }, 'http://a.example'],
    [{ host: '[::1]:9090', forwardedProto: undefined, encrypted: false }, 'http://[::1]:9090'],
    [{ host: 'evil.example/x?', forwardedProto: undefined, encrypted: false }, 'http://localhost'],
    [{ host: 'user@evil.example', forwardedProto: undefined, encrypted: false }, 'http://localhost'],
  ])('reads %j as %s', (request, expected) => {
    expect(usedUrl(request)).toBe(expected);
  });
});

describe('safeReturnPath', () => {
  it('never leaves the console, for any input', () => {
    const part = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      ':',
      '@',
      '?',
      '#',
      'evil.example',
      'https:',
      '\t',
      '\n',
      '%2f',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const here = 'https://console.example';
        expect(new URL(safeReturnPath(parts.join('')), here).origin).toBe(here);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['/buckets/docs?prefix=a%2F#x', '/buckets/docs?prefix=a%2F#x'],
    ['/api/sign-in/X', '/'],
    ['/sign-in?to=/sign-in', '/'],
    [undefined, '/'],
  ])('turns %s into %s', (wanted, path) => {
    expect(safeReturnPath(wanted)).toBe(path);
  });
});
