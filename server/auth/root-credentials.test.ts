import { describe, expect, it } from 'vitest';
import { createFormerRoot } from './root-credentials.ts';

let content: string | undefined;
let reads = 0;
let now = 0;
const formerRoot = () => {
  reads = 0;
  now = 0;
  return createFormerRoot(
    '/former',
    () => new Date(now),
    () => {
      reads += 1;
      return content === undefined ? Promise.reject(new Error('gone')) : Promise.resolve(content);
    },
  );
};

describe('root credentials of before a rotation', () => {
  it('are the two lines of the file, for who asks by that access key', async () => {
    content = 'admin\nold password\n';
    const former = formerRoot();
    expect(await former('admin')).toEqual({
      accessKey: 'admin',
      secretKey: 'old password',
      principal: { kind: 'root', accessKey: 'admin', former: true },
    });
    expect(await former('other')).toBeUndefined();
  });

  it('end a second after the file was emptied, and are read no oftener', async () => {
    content = 'admin\nold';
    const former = formerRoot();
    await former('admin');
    content = '';
    now = 999;
    expect(await former('admin')).toBeDefined();
    expect(reads).toBe(1);
    now = 1_000;
    expect(await former('admin')).toBeUndefined();
    expect(reads).toBe(2);
  });

  it.each([undefined, '', 'admin', 'admin\n', '\npassword'])('are none where the file is %j', async (text) => {
    content = text;
    expect(await formerRoot()('admin')).toBeUndefined();
  });

  it('are none without a file', async () => {
    expect(await createFormerRoot(undefined, () => new Date())('admin')).toBeUndefined();
  });
});
