import { pause } from '../../../platform/async/backoff.ts';
import type { AskedServers, CallableServer, ServerCall } from '../../administration/other-servers.ts';

/** Lines of JSON that go out together. */
type Batch = readonly object[];

interface MergedLines {
  /** The lines of the server that got the call. */
  readonly own: (signal: AbortSignal) => AsyncIterable<Batch>;
  readonly servers: AskedServers;
  /** The call of another server. `again` for one whose answer broke off. The name of the server is added. */
  readonly call: (again: boolean) => Omit<ServerCall, 'method'>;
  /** The line that says why the lines of a server are missing. */
  readonly missing: (endpoint: string, reason: string) => object;
}

/** Returns the names of a parameter, which may be there several times, with commas. */
export function namesOf(query: URLSearchParams, parameter: string): readonly string[] {
  return query
    .getAll(parameter)
    .flatMap((names) => names.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Milliseconds between two looks at the list of servers. */
const lookMs = 2_000;
/** A line of a log or a trace is shorter. */
const maxLineBytes = 4 * 1024 * 1024;

/**
 * Yields the lines of all servers as they come, until the signal. A server that starts meanwhile is added. A line says that a server cannot
 * be reached; it is asked again as long as it counts as running. Each source waits until its last lines were taken.
 */
export async function* mergedLines(
  { own, servers, call, missing }: MergedLines,
  signal: AbortSignal,
): AsyncGenerator<Batch, void> {
  const queue = new BatchQueue();
  const ended = new AbortController();
  const all = AbortSignal.any([signal, ended.signal]);
  const followed = new Map<string, AbortController>();
  const follow = (server: CallableServer) => {
    const gone = new AbortController();
    followed.set(server.endpoint, gone);
    return queue.add(linesOf(server, { call, missing }, AbortSignal.any([all, gone.signal])), all);
  };
  const look = async () => {
    while (!all.aborted) {
      const live = servers.others();
      const names = new Set(live.map(({ endpoint }) => endpoint));
      for (const [endpoint, gone] of followed) {
        if (names.has(endpoint)) continue;
        gone.abort();
        followed.delete(endpoint);
      }
      for (const server of live) if (!followed.has(server.endpoint)) follow(server);
      await pause(lookMs, all);
    }
  };
  if (servers.self) queue.add(own(all), all);
  const looking = look().catch((error: unknown) => queue.fail(error));
  try {
    yield* queue.take(all);
  } finally {
    ended.abort();
    await looking;
  }
}

/** Yields the lines of another server until the signal, which also reports that the server is gone. */
async function* linesOf(
  server: CallableServer,
  { call, missing }: Pick<MergedLines, 'call' | 'missing'>,
  signal: AbortSignal,
): AsyncGenerator<Batch, void> {
  let isTold = false;
  for (let again = false; !signal.aborted; again = true) {
    try {
      const asked = call(again);
      // A server that is named asks no further ones.
      const query = { ...asked.query, node: server.endpoint };
      const answer = await server.call({ method: 'GET', ...asked, query }, signal);
      for await (const batch of parsedLines(answer)) {
        isTold = false;
        yield batch;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isTold) yield [missing(server.endpoint, error instanceof Error ? error.message : String(error))];
      isTold = true;
    }
    await pause(lookMs, signal);
  }
}

/** Yields the values of whole lines, together where they came together. */
export async function* parsedLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Batch, void> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLineBytes) throw new Error('it sent a line that is too long');
    const values = lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as object);
    if (values.length > 0) yield values;
  }
}

/** Passes batches from several sources to one reader, one batch of each source at a time. */
class BatchQueue {
  readonly #batches: { readonly batch: Batch; readonly taken: () => void }[] = [];
  #came = Promise.withResolvers<void>();
  #failure: { readonly error: unknown } | undefined;

  add(source: AsyncIterable<Batch>, signal: AbortSignal): void {
    void this.#drain(source, signal).catch((error: unknown) => this.fail(error));
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#came.resolve();
  }

  async *take(signal: AbortSignal): AsyncGenerator<Batch, void> {
    const wake = () => this.#came.resolve();
    signal.addEventListener('abort', wake, { once: true });
    while (!signal.aborted) {
      const next = this.#batches.shift();
      if (next !== undefined) {
        yield next.batch;
        next.taken();
        continue;
      }
      if (this.#failure !== undefined) throw this.#failure.error;
      await this.#came.promise;
      this.#came = Promise.withResolvers();
    }
  }

  async #drain(source: AsyncIterable<Batch>, signal: AbortSignal): Promise<void> {
    for await (const batch of source) {
      const taken = Promise.withResolvers<void>();
      const stop = () => taken.resolve();
      this.#batches.push({ batch, taken: stop });
      this.#came.resolve();
      signal.addEventListener('abort', stop, { once: true });
      await taken.promise;
      signal.removeEventListener('abort', stop);
      if (signal.aborted) return;
    }
  }
}
