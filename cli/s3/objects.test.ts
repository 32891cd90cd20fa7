import { describe, expect, it } from 'vitest';
import { ResponseError } from '../../protocol/response-error.ts';
import { copyObject, deleteObject, deleteObjects, putObject, storedEtag } from './objects.ts';

it('takes an object for stored only where the answer has its ETag', async () => {
  const page = {
    text: () => Promise.resolve({ status: 200, headers: { 'content-type': 'text/html' }, text: 'Welcome' }),
  };
  await expect(putObject(page as never, 'bucket', 'key', Buffer.from('x'), {})).rejects.toMatchObject({
    code: 'NotAnS3Answer',
    message: expect.stringContaining('has no ETag'),
  });
  expect(storedEtag('"e"')).toBe('e');
});

describe('an answer without the fields of an S3', () => {
  const page = { headers: { 'content-type': 'text/html' }, text: '<html><body>Welcome</body></html>' };
  const source = { bucket: 'bucket', key: 'key', etag: '' };
  /** Answers each DELETE by a page, and each other request as the test says. */
  const client = (head: () => Promise<unknown>) => ({
    text: ({ method }: { method: string }) => (method === 'DELETE' ? Promise.resolve(page) : head()),
  });
  const there = { headers: { etag: '"e"', 'content-length': '1' }, text: '' };
  const gone = new ResponseError('NoSuchKey', 'gone', { status: 404, fields: {} });

  it('is no deletion where the object is still there', async () => {
    const deleting = deleteObject(client(() => Promise.resolve(there)) as never, source);
    await expect(deleting).rejects.toMatchObject({ code: 'NotAnS3Answer' });
  });

  it.each(['AccessDenied', 'InvalidArgument', 'Http404', 'Http500', 'NotAnS3Answer'])(
    'is no deletion where the answer is %s, which does not tell whether the object is gone',
    async (code) => {
      const status = code === 'Http404' ? 404 : 400;
      const refused = new ResponseError(code, 'refused', { status, fields: {} });
      const deleting = deleteObject(client(() => Promise.reject(refused)) as never, source);
      await expect(deleting).rejects.toMatchObject({
        code: 'NotAnS3Answer',
        message: expect.stringContaining('nothing tells whether the object is gone (refused)'),
      });
    },
  );

  it('is a deletion where the object is gone', async () => {
    await expect(deleteObject(client(() => Promise.reject(gone)) as never, source)).resolves.toMatchObject({
      deleteMarker: false,
    });
  });

  it.each(['', page.text])('is no copy, and no deletion of many: %j', async (text) => {
    const proxy = { text: () => Promise.resolve({ ...page, text }) };
    await expect(copyObject(proxy as never, source, source, {})).rejects.toThrow();
    await expect(deleteObjects(proxy as never, 'bucket', [{ key: 'key' }])).rejects.toThrow();
  });
});
