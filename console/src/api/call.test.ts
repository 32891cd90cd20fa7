import { afterEach, describe, expect, it, vi } from 'vitest';
import { call, noteSignIn } from './call.ts';

afterEach(() => vi.unstubAllGlobals());

const refusal = () => Response.json({ code: 'NotSignedIn', message: 'Sign in.' }, { status: 401 });

/** Answers the requests of the page, one after the other. */
function answers(...given: readonly (Response | Promise<Response>)[]) {
  const queue = [...given];
  const fetched = vi.fn(() => Promise.resolve(queue.shift() ?? Response.error()));
  vi.stubGlobal('fetch', fetched);
  vi.stubGlobal('document', { querySelector: () => null });
  return fetched;
}

describe('a call without a session', () => {
  it('is refused', async () => {
    const fetched = answers(refusal());
    await expect(call('GET', '/buckets')).rejects.toMatchObject({ code: 'NotSignedIn', status: 401 });
    expect(fetched).toHaveBeenCalledTimes(1);
  });

  it('is sent again when the user has signed in meanwhile', async () => {
    const late = Promise.withResolvers<Response>();
    const fetched = answers(late.promise, Response.json({ buckets: [] }));
    const called = call('GET', '/buckets');
    noteSignIn();
    late.resolve(refusal());
    expect(await called).toEqual({ buckets: [] });
    expect(fetched).toHaveBeenCalledTimes(2);
  });
});

describe('the message of an error', () => {
  it.each([
    ['The specified bucket does not exist', 'The specified bucket does not exist.'],
    ['There is no user "nobody"', 'There is no user "nobody".'],
    ['Sign in.', 'Sign in.'],
    ['Try it at https://s3.example.com/', 'Try it at https://s3.example.com/'],
  ])('%s ends as a sentence: %s', async (message, shown) => {
    answers(Response.json({ code: 'NoSuchBucket', message }, { status: 404 }));
    await expect(call('GET', '/buckets')).rejects.toMatchObject({ message: shown });
  });
});
