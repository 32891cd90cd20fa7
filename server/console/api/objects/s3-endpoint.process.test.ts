import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestConsole } from '../../../../test/support/console/test-console.ts';

let console: TestConsole;

beforeAll(async () => {
  console = await TestConsole.start({ settings: { s3Url: 'https://s3.example.com' } });
});
afterAll(() => console.close());

const header = 'AWS4-HMAC-SHA256 Credential=ann/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0';

describe('the console', () => {
  it.each([
    ['S3', 'GET', '/bucket?location=', { authorization: header }],
    ['the admin API', 'GET', '/minio/admin/v3/info', { authorization: header }],
    ['S3, with a signature of version 2', 'PUT', '/bucket/key', { authorization: 'AWS ann:signature' }],
    ['S3, with a presigned URL', 'GET', '/bucket/key?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0', {}],
  ])('refuses a signed request of %s, and names the address of S3', async (_, method, path, headers) => {
    const answer = await fetch(`${console.url}${path}`, { method, headers });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/xml']);
    expect(await answer.text()).toMatch(
      /<Code>InvalidRequest<\/Code><Message>This is the console. S3 and the admin API are at https:\/\/s3.example.com.<\/Message>/,
    );
  });
});
