import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { ByteSource } from './read/byte-source.ts';
import { runSelect } from './run-select.ts';
import type { FromQuery, ToQuery } from './select-messages.ts';

/** The entry of the process that runs queries, one after the other. `query-processes.ts` starts it. */
let onChunk: ((bytes: Uint8Array | undefined) => void) | undefined;
let onTaken: (() => void) | undefined;

function send(message: FromQuery): void {
  process.send?.(message);
}

function ask(message: FromQuery): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    onChunk = resolve;
    send(message);
  });
}

/** Asks for chunk after chunk. The next one is on its way while the last one is read. */
function sourceOf(size: number): ByteSource {
  return {
    size,
    async *open(start, end) {
      let coming = ask({ kind: 'open', start, end });
      try {
        for (;;) {
          const bytes = await coming;
          if (bytes === undefined) return;
          coming = ask({ kind: 'next' });
          yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        }
      } finally {
        // The chunk on its way must not be taken for one of the next reading.
        await coming;
      }
    },
  };
}

/** Of all threads of the process, those that decompress too. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function run({ request, size, now, budget }: Extract<ToQuery, { kind: 'start' }>): Promise<void> {
  const began = performance.now();
  const before = processorMs();
  const clock = {
    now: new Date(now),
    elapsed: () => performance.now() - began,
    processorMs: () => processorMs() - before,
  };
  for await (const bytes of runSelect(request, sourceOf(size), clock, budget)) {
    await new Promise<void>((resolve) => {
      onTaken = resolve;
      send({ kind: 'message', bytes });
    });
  }
  send({ kind: 'end' });
}

process.on('message', (message: ToQuery) => {
  if (message.kind === 'chunk') onChunk?.(message.bytes);
  else if (message.kind === 'taken') onTaken?.();
  else {
    run(message).catch((error: unknown) => {
      const code = error instanceof S3Error ? error.code : undefined;
      send({ kind: 'failed', code, message: error instanceof Error ? error.message : String(error) });
    });
  }
});
// The server is gone.
process.on('disconnect', () => process.exit(0));
