import { describe, expect, it } from 'vitest';
import type { CallableServer } from '../../administration/other-servers.ts';
import { askedServers } from '../../administration/other-servers.ts';
import { mergedLines, parsedLines } from './merged-lines.ts';

const missing = (endpoint: string, reason: string) => ({ missing: endpoint, reason });
const call = () => ({ call: 'trace', query: { s3: 'true' } });

async function* sent(...texts: readonly string[]) {
  for (const text of texts) yield Buffer.from(text);
  await new Promise(() => undefined);
}

function server(endpoint: string, answer: CallableServer['call']): CallableServer {
  return { endpoint, call: answer };
}

async function first(count: number, lines: (signal: AbortSignal) => AsyncIterable<readonly object[]>) {
  const ended = new AbortController();
  const seen: object[] = [];
  for await (const batch of lines(ended.signal)) {
    seen.push(...batch);
    if (seen.length >= count) break;
  }
  ended.abort();
  return seen;
}

async function* own() {
  yield [{ own: 1 }];
  await new Promise(() => undefined);
}

describe('the lines of all servers', () => {
  it('are those of this one and of each other one, which is asked by its name', async () => {
    const queries: object[] = [];
    const other = server('b:9000', ({ query }) => {
      queries.push(query);
      return Promise.resolve(sent('{"other":1}\n{"oth', 'er":2}\n'));
    });
    const servers = { self: true, others: () => [other] };
    const seen = await first(3, (signal) => mergedLines({ own, servers, call, missing }, signal));
    expect(seen).toHaveLength(3);
    expect(seen).toEqual(expect.arrayContaining([{ own: 1 }, { other: 1 }, { other: 2 }]));
    expect(queries).toEqual([{ s3: 'true', node: 'b:9000' }]);
  });

  it('say why those of a server are missing', async () => {
    const other = server('b:9000', () => Promise.reject(new Error('it is away')));
    const servers = { self: false, others: () => [other] };
    const seen = await first(1, (signal) => mergedLines({ own, servers, call, missing }, signal));
    expect(seen).toEqual([{ missing: 'b:9000', reason: 'it is away' }]);
  });

  it('end with the signal', async () => {
    const ended = new AbortController();
    const servers = { self: true, others: () => [] };
    const seen: object[] = [];
    for await (const batch of mergedLines({ own, servers, call, missing }, ended.signal)) {
      seen.push(...batch);
      ended.abort();
    }
    expect(seen).toEqual([{ own: 1 }]);
  });

  it('are parsed where a character is cut', async () => {
    const bytes = Buffer.from('{"a":"ü"}\n');
    const chunks = [bytes.subarray(0, 7), bytes.subarray(7)];
    const cut = async function* () {
      yield* chunks;
    };
    expect(await Array.fromAsync(parsedLines(cut()))).toEqual([[{ a: 'ü' }]]);
  });
});

describe('the servers of a call', () => {
  const others = ['b:9000', 'b:9001'].map((endpoint) => server(endpoint, () => Promise.reject(new Error('not here'))));
  const known = { server: { endpoint: 'a:9000' }, callableServers: () => others };
  const asked = (...names: readonly string[]) => {
    const servers = askedServers(known, names);
    return [...(servers.self ? ['a:9000'] : []), ...servers.others().map(({ endpoint }) => endpoint)];
  };

  it.each([
    [[], ['a:9000', 'b:9000', 'b:9001']],
    [['a:9000'], ['a:9000']],
    [['b:9001'], ['b:9001']],
    [['b'], ['b:9000', 'b:9001']],
  ])('that names %j are %j', (names, expected) => {
    expect(asked(...names)).toEqual(expected);
  });

  it('are refused where one of that name does not run', () => {
    expect(() => asked('c:9000')).toThrow('There is no running server "c:9000": there are a:9000, b:9000, b:9001.');
  });
});
