import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { formatAddress, listen, parseAddress } from './listen.ts';

describe('parseAddress', () => {
  it.each([
    ['127.0.0.1:9000', { host: '127.0.0.1', port: 9000 }],
    [':9000', { port: 9000 }],
    ['*:9000', { port: 9000 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['[::1]:7373', { host: '::1', port: 7373 }],
    ['[fe80::1%eth0]:80', { host: 'fe80::1%eth0', port: 80 }],
  ])('reads %s', (text, address) => {
    expect(parseAddress(text)).toEqual(address);
  });

  it.each(['9000', '127.0.0.1', '::1:9000', 'host:', 'host:port', 'host:99999', 'http://host:1', ''])(
    'refuses %j and quotes it',
    (text) => {
      expect(() => parseAddress(text)).toThrow(`"${text}"`);
    },
  );

  it('refuses with an error that is explained without its stack, and names the setting', () => {
    const error = { code: 'invalid-value', message: expect.stringContaining('--address: "9000"') as string };
    expect(() => parseAddress('9000', '--address')).toThrow(expect.objectContaining(error) as Error);
  });

  it('is undone by formatAddress', () => {
    expect(formatAddress({ host: '::1', port: 1 })).toBe('[::1]:1');
    expect(formatAddress({ address: '127.0.0.1', port: 1 })).toBe('127.0.0.1:1');
    expect(formatAddress({ port: 1 })).toBe(':1');
  });
});

describe('listen', () => {
  const first = createServer();
  const second = createServer();
  afterEach(() => {
    first.close();
    second.close();
  });

  it('tells the port the system chose, and names one that is in use', async () => {
    const { port } = await listen(first, { host: '127.0.0.1', port: 0 }, { setting: '--address' });
    expect(port).toBeGreaterThan(0);
    await expect(listen(second, { host: '127.0.0.1', port }, { setting: '--address' })).rejects.toMatchObject({
      code: 'listen',
      message: `port ${port} is in use (127.0.0.1:${port}): stop the program that holds it, or choose another port with --address`,
    });
  });

  it('says when an address is none of this machine', async () => {
    const rejected = listen(second, { host: '192.0.2.1', port: 0 }, { setting: '--address' });
    await expect(rejected).rejects.toThrow('192.0.2.1 is no address of this machine');
  });
});
