// What the client uses of the language that Node 20 lacks. The test of the package runs every command on Node 20.

interface Resolvers<T> {
  promise: Promise<T>;
  resolve: (value: T | PromiseLike<T>) => void;
  reject: (reason?: unknown) => void;
}

const promises = Promise as { withResolvers?: <T>() => Resolvers<T> };
promises.withResolvers ??= function withResolvers<T>(): Resolvers<T> {
  let [resolve, reject]: [Resolvers<T>['resolve'] | undefined, Resolvers<T>['reject'] | undefined] = [
    undefined,
    undefined,
  ];
  const promise = new Promise<T>((resolves, rejects) => {
    [resolve, reject] = [resolves, rejects];
  });
  return { promise, resolve: resolve as never, reject: reject as never };
};

const maps = Map as { groupBy?: <K, T>(items: Iterable<T>, keyOf: (item: T, index: number) => K) => Map<K, T[]> };
maps.groupBy ??= function groupBy<K, T>(items: Iterable<T>, keyOf: (item: T, index: number) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index);
    index += 1;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
};

const arrays = Array as { fromAsync?: <T>(items: AsyncIterable<T>) => Promise<T[]> };
arrays.fromAsync ??= async function fromAsync<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};
