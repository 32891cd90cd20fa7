import type { RingRequest } from '../generator/request-ring.ts';
import type { Load } from './load.ts';
import { Objects } from './objects.ts';
import { bodiesOf } from './sizes.ts';

const size = 65_536;
const perSecond = 15_000;
const most = 60_000;
/** Of 20 operations 9 are GET, 6 HEAD, 3 PUT and 2 DELETE, evenly strewn: the shares that other benchmarks of S3 use. */
const pattern = 'ghgpghgdghgphgpghgdh';
/** A DELETE comes so many PUTs after that of its object: more than can be under way at once. */
const lag = 512;

/** Which objects are read is stepped through by a number that shares no factor with their count. */
const stride = 787;

export interface MixedRequests {
  readonly requests: readonly RingRequest[];
  /** Written before and in the round; those from `deleted(done)` to `written(done)` are there after `done` requests. */
  readonly written: (done: number) => number;
  readonly deleted: (done: number) => number;
}

/** Pure: the requests of one round. The first `lag` of `changing` must be there before. */
export function mixedRequests(count: number, reading: Objects, changing: Objects): MixedRequests {
  const requests: RingRequest[] = [];
  const written = new Uint32Array(count + 1);
  const deleted = new Uint32Array(count + 1);
  let [puts, deletes] = [lag, 0];
  written[0] = puts;
  for (let at = 0; at < count; at += 1) {
    const kind = pattern[at % pattern.length];
    const read = (at * stride) % reading.count;
    if (kind === 'g') requests.push(reading.get(read));
    else if (kind === 'h') requests.push(reading.head(read));
    else if (kind === 'p') requests.push(changing.put(puts++));
    else requests.push(changing.delete(deletes++));
    written[at + 1] = puts;
    deleted[at + 1] = deletes;
  }
  return { requests, written: (done) => written[done] ?? puts, deleted: (done) => deleted[done] ?? deletes };
}

export const mixedLoad: Load = {
  name: 'mixed-64KiB',
  help: '45 % GET, 30 % HEAD, 15 % PUT, 10 % DELETE of 64 KiB',
  async prepare(round) {
    const bodies = bodiesOf(size);
    const reading = new Objects('reads-64KiB', 2_000, bodies);
    await reading.fill(round);
    const prefix = `mixed/${round.id}`;
    await new Objects(prefix, lag, bodies).fill(round);
    const changing = new Objects(prefix, most, bodies);
    const mixed = mixedRequests(Math.min(most, Math.ceil(perSecond * round.seconds)), reading, changing);
    return {
      requests: mixed.requests,
      repeat: false,
      async verify(done) {
        await changing.verifyGone(round.endpoint, mixed.deleted(done));
        await reading.verify(round.endpoint, reading.count);
      },
      clear: (done) => changing.clear(round.endpoint, mixed.deleted(done), mixed.written(done)),
    };
  },
};
