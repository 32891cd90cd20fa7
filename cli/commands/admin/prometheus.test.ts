import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { metricsPathOf, metricsToken } from './prometheus.ts';

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

describe('the path of metrics', () => {
  it.each([
    [undefined, {}, '/minio/v2/metrics/cluster'],
    ['node', { apiVersion: 'v2' }, '/minio/v2/metrics/node'],
    [undefined, { apiVersion: 'v3' }, '/minio/metrics/v3'],
    ['system', { apiVersion: 'v3' }, '/minio/metrics/v3/system'],
    ['api', { apiVersion: 'v3', bucket: 'photos' }, '/minio/metrics/v3/bucket/api/photos'],
  ])('of %s with %j is %s', (kind, options, path) => {
    expect(metricsPathOf(kind, options)).toBe(path);
  });

  it.each([
    ['api', {}, 'there are cluster'],
    ['node', { apiVersion: 'v3' }, 'there are api'],
    [undefined, { apiVersion: 'v4' }, 'v2 or v3'],
    ['system', { apiVersion: 'v3', bucket: 'photos' }, '--bucket'],
    ['bucket', { bucket: 'photos' }, '--bucket'],
  ])('of %s with %j is refused', (kind, options, reason) => {
    expect(() => metricsPathOf(kind, options)).toThrow(reason);
  });
});
