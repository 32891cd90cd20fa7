import { describe, expect, it } from 'vitest';
import { signRequest } from '../../protocol/sigv4/sign-request.ts';
import { RequestSigner } from './request-signer.ts';

const endpoint = { host: '127.0.0.1', port: 9000, accessKey: 'key', secretKey: 'secret', region: 'us-east-1' };
const now = new Date('2026-11-21T12:00:00Z');

function authorization(head: string): string | undefined {
  return /^Authorization: (.*)\r$/m.exec(head)?.[1];
}

function byProtocol(method: string, rawPath: string, rawQuery: string, payloadHash: string): string | undefined {
  const headers = { host: '127.0.0.1:9000' };
  const credentials = { accessKey: 'key', secretKey: 'secret' };
  const signing = { region: 'us-east-1', service: 's3', now, payloadHash };
  return signRequest({ method, rawPath, rawQuery, headers }, credentials, signing)['authorization'];
}

describe('a request of the benchmark', () => {
  it.each([
    ['GET', '/bench/a/0001', ''],
    ['GET', '/bench', 'delimiter=%2F&list-type=2&prefix=list%2F0001%2F'],
    ['POST', '/bench/a', 'uploads='],
  ] as const)('%s %s?%s is signed as clients sign it', (method, path, query) => {
    const head = new RequestSigner(endpoint, now).head({ method, path, query, length: 0 });
    expect(authorization(head)).toBe(byProtocol(method, path, query, 'UNSIGNED-PAYLOAD'));
  });

  it('is signed with the hash of its body where one is given', () => {
    const payloadHash = 'a'.repeat(64);
    const head = new RequestSigner(endpoint, now).head({
      method: 'PUT',
      path: '/b/k',
      query: '',
      length: 3,
      payloadHash,
    });
    expect(authorization(head)).toBe(byProtocol('PUT', '/b/k', '', payloadHash));
  });

  it('is a request line, fields and an empty line', () => {
    const head = new RequestSigner(endpoint, now).head({ method: 'PUT', path: '/b/k', query: 'x=1', length: 3 });
    expect(head).toMatch(
      /^PUT \/b\/k\?x=1 HTTP\/1\.1\r\nHost: 127\.0\.0\.1:9000\r\nContent-Length: 3\r\n(.+\r\n)+\r\n$/,
    );
  });

  it('declares no length where it has no body', () => {
    const head = new RequestSigner(endpoint, now).head({ method: 'DELETE', path: '/b/k', query: '', length: 0 });
    expect(head).not.toContain('Content-Length');
  });

  it('carries fields that are not signed', () => {
    const range = { fields: 'Range: bytes=0-15\r\n' };
    const head = new RequestSigner(endpoint, now).head({ method: 'GET', path: '/b/k', query: '', length: 0, ...range });
    expect(head).toContain('\r\nRange: bytes=0-15\r\n');
    expect(authorization(head)).toBe(byProtocol('GET', '/b/k', '', 'UNSIGNED-PAYLOAD'));
  });
});
