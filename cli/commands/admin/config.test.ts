import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Context } from '../context.ts';
import { keyValueText } from './config.ts';

async function textOf(words: readonly string[], input = ''): Promise<{ text: string; stderr: string }> {
  const stderr = new PassThrough();
  const io = { stdin: Readable.from([input]), stdout: new PassThrough(), stderr, env: {} };
  const context = new Context({ ...io, signal: new AbortController().signal }, {});
  const text = await keyValueText(context, words);
  return { text, stderr: String(stderr.read() ?? '') };
}

describe('settings on a command line', () => {
  it('are quoted where they need it', async () => {
    const words = ['display_name=Our staff', 'scopes=openid,email', 'comment='];
    expect(await textOf(words)).toEqual({ text: 'display_name="Our staff" scopes=openid,email comment=', stderr: '' });
  });

  it('are asked for in their order where they are -', async () => {
    const { text, stderr } = await textOf(
      ['client_secret=-', 'client_id=coffer', 'lookup_bind_password=-'],
      'one\ntwo\n',
    );
    expect([text, stderr]).toEqual(['client_secret=one client_id=coffer lookup_bind_password=two', '']);
  });

  it.each(['client_secret', 'lookup_bind_password'])(
    'are warned of where %s is in sight, without its value',
    async (key) => {
      const { stderr } = await textOf([`${key}=very-secret`]);
      expect(stderr).toContain(`The ${key} is on the command line`);
      expect(stderr).not.toContain('very-secret');
    },
  );

  it('are no words without =', async () => {
    await expect(textOf(['openid'])).rejects.toThrow('`openid` is none');
  });
});
