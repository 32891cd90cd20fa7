import { describe, expect, it } from 'vitest';
import type { S3Client } from './client.ts';
import { listUploads } from './list-objects.ts';

const upload = (key: string) =>
  `<Upload><Key>${key}</Key><UploadId>id-${key}</UploadId><Initiated>2026-01-01T00:00:00Z</Initiated></Upload>`;
const pageOf = (content: string) => `<ListMultipartUploadsResult>${content}</ListMultipartUploadsResult>`;

describe('the list of unfinished uploads', () => {
  it('asks for a prefix page by page', async () => {
    const pages = [
      pageOf(
        `${upload('logs/a')}<IsTruncated>true</IsTruncated><NextKeyMarker>logs/a</NextKeyMarker><NextUploadIdMarker>id-logs/a</NextUploadIdMarker>`,
      ),
      pageOf(upload('logs/b')),
    ];
    const queries: unknown[] = [];
    const client = {
      text: ({ query }: { readonly query?: unknown }) => {
        queries.push(query);
        return Promise.resolve({ text: pages.shift() ?? '' });
      },
    } as unknown as S3Client;
    const found: string[] = [];
    for await (const { key } of listUploads(client, { bucket: 'bucket', prefix: 'logs/', recursive: true }))
      found.push(key);
    expect(found).toEqual(['logs/a', 'logs/b']);
    const asked = { uploads: '', prefix: 'logs/', 'encoding-type': 'url' };
    expect(queries).toEqual([asked, { ...asked, 'key-marker': 'logs/a', 'upload-id-marker': 'id-logs/a' }]);
  });
});
