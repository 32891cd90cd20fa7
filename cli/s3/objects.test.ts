import { expect, it } from 'vitest';
import { putObject, storedEtag } from './objects.ts';

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
