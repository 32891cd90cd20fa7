import { describe, expect, it } from 'vitest';
import { connectionOf } from './mysql.ts';

const plain = { user: 'user', password: 'pass', host: 'db', port: 3306, database: 'events', hasTls: false };

describe('the connection of a MySQL target', () => {
  it.each([
    ['a name', 'user:pass@tcp(db:3306)/events', plain],
    ['a name without a port', 'user:pass@tcp(db)/events', plain],
    ['a password with separators', 'user:p:a@s/s@tcp(db:3306)/events', { ...plain, password: 'p:a@s/s' }],
    ['an address of IPv6', 'user:pass@tcp([::1]:3307)/events', { ...plain, host: '::1', port: 3307 }],
    ['TLS', 'user:pass@tcp(db:3306)/events?tls=true', { ...plain, hasTls: true }],
    ['a URL', 'mysql://user:pa%20ss@db/events?tls=true', { ...plain, password: 'pa ss', hasTls: true }],
  ])('comes from %s', (_what, text, expected) => {
    expect(connectionOf(text)).toEqual(expected);
  });

  it.each([
    ['another parameter', 'user:pass@tcp(db)/events?tls=true&timeout=1s', /timeout/],
    ['unchecked certificates', 'user:pass@tcp(db)/events?tls=skip-verify', /tls=skip-verify/],
    ['no URL', 'mysql://user:pass@db:port/events', /mysql:/],
    ['TLS to an address', 'user:pass@tcp(127.0.0.1)/events?tls=true', /name of the host/],
    ['a socket', 'user:pass@unix(/run/mysql)/events', /tcp/],
  ])('refuses %s, without the password', (_what, text, message) => {
    expect(() => connectionOf(text)).toThrow(message);
    expect(() => connectionOf(text)).not.toThrow(/pass@/);
  });
});
