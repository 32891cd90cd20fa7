import type { Load } from './load.ts';
import { Objects } from './objects.ts';
import { bodiesOf, type Size, sizes, writtenIn } from './sizes.ts';

const nothing = (): Promise<void> => Promise.resolve();

function putLoad(size: Size): Load {
  return {
    name: `put-${size.name}`,
    help: `PUT of new objects of ${size.name}`,
    prepare(round) {
      const count = writtenIn(size, round.seconds);
      const objects = new Objects(`put-${size.name}/${round.id}`, count, bodiesOf(size.bytes));
      return Promise.resolve({
        requests: objects.all((number) => objects.put(number, round.signPayload)),
        repeat: false,
        verify: (done) => objects.verify(round.endpoint, done),
        clear: (done) => objects.clear(round.endpoint, 0, done),
      });
    },
  };
}

function readLoad(method: 'get' | 'head', size: Size): Load {
  return {
    name: `${method}-${size.name}`,
    help: `${method.toUpperCase()} of ${size.read} objects of ${size.name}, in turn`,
    async prepare(round) {
      const objects = new Objects(`reads-${size.name}`, size.read, bodiesOf(size.bytes));
      await objects.fill(round);
      await objects.verify(round.endpoint, objects.count);
      return {
        requests: objects.all((number) => objects[method](number)),
        repeat: true,
        verify: nothing,
        clear: nothing,
      };
    },
  };
}

function deleteLoad(size: Size): Load {
  return {
    name: `delete-${size.name}`,
    help: `DELETE of up to ${size.deleted} objects of ${size.name} written before`,
    async prepare(round) {
      const count = round.quick ? Math.ceil(size.deleted / 4) : size.deleted;
      const objects = new Objects(`delete-${size.name}/${round.id}`, count, bodiesOf(size.bytes));
      await objects.fill(round);
      return {
        requests: objects.all((number) => objects.delete(number)),
        repeat: false,
        verify: (done) => objects.verifyGone(round.endpoint, done),
        clear: (done) => objects.clear(round.endpoint, done, objects.count),
      };
    },
  };
}

export const singleObjectLoads: readonly Load[] = sizes.flatMap((size) => [
  putLoad(size),
  readLoad('get', size),
  readLoad('head', size),
  deleteLoad(size),
]);
