import { describe, expect, it, vi } from 'vitest';
import { inOrder, UploadQueue } from './upload-queue.ts';
import type { SendRequest } from './upload-queue.ts';

/** A queue whose uploads end when the test ends them. */
function queue() {
  const sending: (SendRequest & { readonly arrive: () => void; readonly fail: (error: unknown) => void })[] = [];
  const finished = vi.fn();
  const abandoned = vi.fn();
  const uploads = new UploadQueue(
    (request) =>
      new Promise((resolve, reject) => {
        sending.push({ ...request, arrive: resolve, fail: reject });
      }),
    { finished, abandoned },
  );
  return { uploads, sending, finished, abandoned, states: () => uploads.list().map(({ state }) => state.kind) };
}

const file = (text = 'abc') => new Blob([text]);
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('UploadQueue', () => {
  it('sends three files concurrently, and the others in order', async () => {
    const { uploads, sending, states } = queue();
    uploads.add(
      'docs',
      ['a', 'b', 'c', 'd'].map((key) => ({ key, file: file() })),
    );
    expect(states()).toEqual(['sending', 'sending', 'sending', 'waiting']);
    sending[1]!.arrive();
    await settled();
    expect(states()).toEqual(['sending', 'done', 'sending', 'sending']);
  });

  it('asks if an object with the key exists, and replaces it on request', async () => {
    const { uploads, sending, states } = queue();
    uploads.add('docs', [{ key: 'a', file: file() }]);
    expect(sending[0]!.replace).toBe(false);
    sending[0]!.fail({ code: 'PreconditionFailed', message: 'there is one' });
    await settled();
    expect(states()).toEqual(['exists']);
    uploads.retry(uploads.list()[0]!.id, { replace: true });
    expect(sending[1]!.replace).toBe(true);
  });

  it('stops a cancelled upload and ignores its late result', async () => {
    const { uploads, sending, states, finished } = queue();
    uploads.add('docs', [{ key: 'a', file: file() }]);
    uploads.cancel(uploads.list()[0]!.id);
    expect(sending[0]!.signal.aborted).toBe(true);
    sending[0]!.progress(2);
    sending[0]!.arrive();
    await settled();
    expect(states()).toEqual(['cancelled']);
    expect(finished).not.toHaveBeenCalled();
  });

  it('goes on behind the parts of a paused upload', async () => {
    const { uploads, sending, states, abandoned } = queue();
    uploads.add('docs', [{ key: 'a', file: file() }]);
    sending[0]!.multipart.uploadId = 'u1';
    sending[0]!.multipart.etags.set(1, 'e1');
    uploads.pause(uploads.list()[0]!.id);
    expect([states(), sending[0]!.signal.aborted]).toEqual([['paused'], true]);
    uploads.resume(uploads.list()[0]!.id);
    expect(sending[1]!.multipart).toMatchObject({ uploadId: 'u1', etags: new Map([[1, 'e1']]) });
    expect(abandoned).not.toHaveBeenCalled();
  });

  it('gives up the parts of a cancelled upload', () => {
    const { uploads, sending, abandoned } = queue();
    uploads.add('docs', [{ key: 'a', file: file() }]);
    sending[0]!.multipart.uploadId = 'u1';
    uploads.cancel(uploads.list()[0]!.id);
    expect(abandoned).toHaveBeenCalledWith(expect.objectContaining({ key: 'a' }), 'u1');
  });

  it.each([
    ['replace', ['sending', 'sending'], ['a.txt', 'b']],
    ['skip', ['skipped', 'skipped'], ['a.txt', 'b']],
    ['rename', ['sending', 'sending'], ['a (1).txt', 'b (1)']],
  ] as const)('decides for all taken keys: %s', async (decision, states_, keys) => {
    const { uploads, sending, states } = queue();
    uploads.add(
      'docs',
      ['a.txt', 'b'].map((key) => ({ key, file: file() })),
    );
    for (const one of sending) one.fail({ code: 'PreconditionFailed', message: 'there is one' });
    await settled();
    uploads.decideAll(decision);
    expect([states(), uploads.list().map(({ key }) => key)]).toEqual([states_, keys]);
  });

  it('counts on where the new name is taken too', async () => {
    const { uploads, sending } = queue();
    uploads.add('docs', [{ key: 'a.txt', file: file() }]);
    for (const at of [0, 1]) {
      sending[at]!.fail({ code: 'PreconditionFailed', message: 'there is one' });
      await settled();
      uploads.rename(uploads.list()[0]!.id);
    }
    expect(sending.map(({ key }) => key)).toEqual(['a.txt', 'a (1).txt', 'a (2).txt']);
  });

  it('shows failed uploads first', async () => {
    const { uploads, sending } = queue();
    uploads.add(
      'docs',
      ['a', 'b'].map((key) => ({ key, file: file() })),
    );
    sending[0]!.arrive();
    sending[1]!.fail({ code: 'AccessDenied', message: 'no' });
    await settled();
    expect(inOrder(uploads.list()).map(({ key }) => key)).toEqual(['b', 'a']);
  });

  it('keeps the message of a refusal', async () => {
    const { uploads, sending } = queue();
    uploads.add('docs', [{ key: 'a', file: file() }]);
    sending[0]!.fail({ code: 'AccessDenied', message: 'Your policy (readonly) does not allow s3:PutObject' });
    await settled();
    expect(uploads.list()[0]!.state).toEqual({
      kind: 'failed',
      message: 'Your policy (readonly) does not allow s3:PutObject',
    });
  });

  it('clears all uploads that are not in progress', async () => {
    const { uploads, sending } = queue();
    uploads.add('docs', [
      { key: 'a', file: file() },
      { key: 'b', file: file() },
    ]);
    sending[0]!.arrive();
    await settled();
    uploads.clear();
    expect(uploads.list().map(({ key }) => key)).toEqual(['b']);
  });
});
