import { describe, expect, it } from 'vitest';
import type { Answer, RequestHandler } from '../access/answer.ts';
import { Freezer } from './freezer.ts';

const answer: Answer = { status: 200, headers: {}, body: { kind: 'empty' } };
const request = {} as Parameters<RequestHandler>[0];
const room: RequestHandler = () => Promise.resolve(answer);

describe('a frozen server', () => {
  it('holds requests until it is thawed', async () => {
    const freezer = new Freezer();
    const handle = freezer.guard(room);
    freezer.set(true);
    let answered = false;
    const held = handle(request).then(() => (answered = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBe(false);
    freezer.set(false);
    await held;
    expect(await handle(request)).toBe(answer);
  });

  it('tells who has waited for long to come again', async () => {
    const freezer = new Freezer({ patienceMs: 5 });
    freezer.set(true);
    await expect(freezer.guard(room)(request)).rejects.toMatchObject({ code: 'SlowDown' });
  });

  it('holds only so many', async () => {
    const freezer = new Freezer({ most: 1 });
    const handle = freezer.guard(room);
    freezer.set(true);
    const held = handle(request);
    await expect(handle(request)).rejects.toMatchObject({ code: 'SlowDown' });
    freezer.set(false);
    expect(await held).toBe(answer);
    expect(await handle(request)).toBe(answer);
  });
});
