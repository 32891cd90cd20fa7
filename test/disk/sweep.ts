import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { setTimeout as sleep } from 'node:timers/promises';
import { complaintsAbout } from '../crash/compare.ts';
import { BUCKET_THERE, ExpectedObjects, ExpectedUploads } from '../crash/expected.ts';
import { clientOf } from '../crash/s3-client.ts';
import { writeUntilGone } from '../crash/writers.ts';
import { BUCKET, VERSIONS } from '../crash/writing.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { errors, type Fault, type IoFaults, ops, type places } from './io-faults.ts';

const WRITERS = 4;
/** Milliseconds that each fault lasts. */
const LASTS = 300;
const names = <T extends object>(of: T) => Object.keys(of) as (keyof T)[];

interface FaultsOptions {
  readonly places: readonly (keyof typeof places)[];
  /** One of this many calls fails where a fault lasts. */
  readonly every: number;
}

/** Returns each call with each error in each place: the first one only, and those that follow too. */
export function allFaults({ places: files, every }: FaultsOptions): Fault[] {
  const all: Fault[] = [];
  for (const op of names(ops)) {
    const isOfNetwork = op === 'socket' || op === 'accept';
    for (const place of isOfNetwork ? (['network'] as const) : files) {
      for (const error of names(errors)) {
        if (error === 'part' && !['write', 'flushed write', 'read'].includes(op)) continue;
        // libuv makes an interrupted call again without an end.
        const often = error === 'EINTR' ? Math.max(every, 2) : every;
        all.push({ ops: [op], in: place, error, every: 1, times: 1 }, { ops: [op], in: place, error, every: often });
      }
    }
  }
  return all;
}

export const describeFault = ({ ops: [op], in: place, error, times }: Fault) =>
  `${op} in ${place}: ${error}${times === 1 ? ' once' : ''}`;

/** A process ends itself where the state of the record file is unknown, and nowhere else (docs/guides/server.md). */
export const mayEndServer = ({ ops: [op = 'read'], in: place, error }: Fault): boolean =>
  place === 'records' && ['write', 'flushed write', 'flush', 'truncate'].includes(op) && error !== 'slow';

/** Of an error that passes by itself, and of a server that starts again. */
const answers = new Set(['500 InternalError', '503 ServiceUnavailable', '503 SlowDown']);

interface SweepOptions {
  readonly faults: readonly Fault[];
  readonly shim: IoFaults;
  /** A server for each, on the same stores. */
  readonly dataFolders: readonly string[];
  readonly random: SeededRandom;
  /** Environment of the servers besides that of the shim. */
  readonly env?: Readonly<Record<string, string>>;
  /** Returns true where the guide says that the server ends itself. */
  readonly mayEnd: (fault: Fault) => boolean;
  /** Returns what is wrong with the stores of a server that does not run; `swept` once everything without an owner was removed. */
  readonly verify: (kind: 'ended' | 'swept') => Promise<readonly string[]>;
}

interface Swept {
  /** What is wrong: losses, wrong bytes, answers that are not of the table, ends that the guide does not name. */
  readonly wrong: readonly string[];
  /** The number of faults that met a call. */
  readonly hits: number;
}

/** Lets the calls of a server under a mixed load fail, one fault after the other. Compares at the end what is there with what it acknowledged. */
export async function sweepServer(options: SweepOptions): Promise<Swept> {
  const { faults, shim, dataFolders, random, mayEnd, verify } = options;
  const expected = new ExpectedObjects();
  const uploads = new ExpectedUploads();
  const wrong: string[] = [];
  let hits = 0;
  let current: Fault | undefined;
  let before: Fault | undefined;
  let servers: readonly RunningServer[] = [];
  let writers: Promise<unknown> = Promise.resolve();
  let stop = new AbortController();

  const start = async (env: Readonly<Record<string, string>>) => {
    const started: RunningServer[] = [];
    servers = started;
    for (const folder of dataFolders) started.push(await startServer({ folder, env: { ...options.env, ...env } }));
    await Promise.all(started.map((server) => untilReady(server, 60_000)));
  };
  const firstClient = () => {
    const [first] = servers;
    if (first === undefined) throw new Error('no server was started');
    return clientOf(first);
  };
  const write = () => {
    stop = new AbortController();
    const { signal } = stop;
    const writeOn = async (index: number) => {
      // A writer ends when a connection does. Its names are in doubt then, so that the next one has others.
      for (let life = 0; !signal.aborted; life += 1) {
        const server = servers[(index + life) % servers.length];
        if (server === undefined || server.ended() !== undefined) return;
        await writeUntilGone(
          {
            s3: clientOf(server),
            writer: `writer-${index}-${server.pid}-${life}`,
            bucket: index % 2 === 0 ? BUCKET : VERSIONS,
            versions: index % 2 === 1,
            random: new SeededRandom(random.between(0, 2 ** 30)),
            witness: expected,
            uploads,
            onTrouble: (status, code) => {
              if (!answers.has(`${status} ${code}`))
                wrong.push(`${current && describeFault(current)}: ${status} ${code}`);
            },
          },
          signal,
        );
        await sleep(20);
      }
    };
    writers = Promise.all(Array.from({ length: WRITERS }, (_, index) => writeOn(index)));
  };
  const end = async () => {
    await Promise.all(servers.map((server) => server.kill()));
    stop.abort();
    await writers;
  };

  const withFaults = { SVC_THREADS: '2', ...shim.env };
  try {
    await start(withFaults);
    for (const bucket of [BUCKET, VERSIONS]) {
      expected.begin(`${bucket}/`, BUCKET_THERE);
      await firstClient().send(
        new CreateBucketCommand({ Bucket: bucket, ObjectLockEnabledForBucket: bucket === VERSIONS }),
      );
      expected.acknowledge(`${bucket}/`);
    }
    write();
    for (const fault of faults) {
      before = current;
      current = fault;
      shim.begin(fault);
      await sleep(LASTS);
      shim.end();
      hits += shim.hits > 0 ? 1 : 0;
      await sleep(50);
      const hasEnded = servers.filter((server) => server.ended() !== undefined);
      if (hasEnded.length === 0) continue;
      for (const server of hasEnded) {
        // The other threads end the process, too, where they see a file that is given up.
        const answered = server.log.find((line) => line.includes('MDB_PANIC') && line.includes('request failed'));
        if (answered !== undefined) wrong.push(`${describeFault(fault)}: answered: ${answered}`);
        // The end may come a moment after the fault.
        if (!(mayEnd(fault) || (before !== undefined && mayEnd(before))) || server.ended() !== 'SIGKILL') {
          wrong.push(`${describeFault(fault)}: ended with ${server.ended()}: ${server.log.slice(-5).join(' | ')}`);
        }
      }
      await end();
      wrong.push(...(await verify('ended')).map((one) => `${describeFault(fault)}: ${one}`));
      await start(withFaults);
      write();
    }
  } finally {
    shim.end();
    await end();
  }
  wrong.push(...(await verify('ended')));
  await start({});
  try {
    wrong.push(...(await complaintsAbout(firstClient(), expected, uploads)));
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
  wrong.push(...(await verify('swept')));
  return { wrong, hits };
}
