import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { metricsToken } from './prometheus.ts';

it('signs a token of Prometheus with the secret key, good for a hundred years', () => {
  const now = new Date('2030-01-01T00:00:00Z');
  const [header = '', claims = '', signature] = metricsToken({ accessKey: 'ann', secretKey: 'ann-secret' }, now).split(
    '.',
  );
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'HS512', typ: 'JWT' });
  const expected = { iss: 'prometheus', sub: 'ann', exp: now.getTime() / 1_000 + 100 * 365 * 86_400 };
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual(expected);
  expect(signature).toBe(createHmac('sha512', 'ann-secret').update(`${header}.${claims}`).digest('base64url'));
});

it('makes none without keys', () => {
  expect(() => metricsToken({ accessKey: '', secretKey: '' }, new Date())).toThrow('--public');
});
