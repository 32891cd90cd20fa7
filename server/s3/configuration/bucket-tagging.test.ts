import { expect, it } from 'vitest';
import { testCalls } from '../../../test/support/s3-api/s3-calls.ts';

const tags = (content: string) => ({ body: `<Tagging><TagSet>${content}</TagSet></Tagging>` });

it.each([
  ['one tag', '<Tag><Key>a</Key><Value>b</Value></Tag>'],
  ['none', ''],
])('PutBucketTagging with %s answers 200, and its removal 204', async (_what, content) => {
  const { call } = await testCalls();
  expect(await call('PUT', '/bucket?tagging', tags(content))).toMatchObject({ status: 200, body: '' });
  expect(await call('DELETE', '/bucket?tagging')).toMatchObject({ status: 204 });
});
