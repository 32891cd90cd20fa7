import { randomBytes } from 'node:crypto';
import type { ProfileKind, Diagnostics } from '../administration/diagnostics.ts';
import type { ObjectLayer } from '../objects/contract/object-layer.ts';
import { createUsageReader } from '../observability/usage/usage-record.ts';
import type { ServerFacts } from '../cluster/server-registry.ts';
import type { RecordStore } from '../store/record-store.ts';
import { ExclusiveTasks } from './exclusive-task.ts';
import type { SpeedObjects } from './object-speed.ts';
import type { ProfileFile } from './profile-thread.ts';
import { readHeldLocks } from './held-locks.ts';
import { readHostState } from './host-state.ts';
import { readScannerState } from './scanner-state.ts';
import { adminError } from '../administration/admin-error.ts';

interface DiagnosticsContext {
  readonly records: RecordStore;
  readonly objects: SpeedObjects & Pick<ObjectLayer, 'listObjectVersions'>;
  readonly space: () => Promise<{ readonly free: number } | undefined>;
  /** The data folder, if there is one. */
  readonly folder: string | undefined;
  /** The folder of the bodies, if they are files. */
  readonly bodies: string | undefined;
  readonly own: () => Pick<ServerFacts, 'id' | 'endpoint' | 'startedAt'>;
  readonly live: () => readonly ServerFacts[];
  /** The start of this process, where no other one uses the records. */
  readonly soleSince: number | undefined;
  readonly profile: (
    kinds: readonly ProfileKind[],
    durationMs: number,
  ) => Promise<{ readonly files: readonly ProfileFile[]; readonly missing: readonly string[] }>;
}

const monotonic = () => performance.now();

/** Milliseconds after which a profile or a measurement of a drive has ended, whatever happens. */
const maxDriveMs = 5 * 60_000;
const profileGraceMs = 60_000;

/** Measures this server and shows its state. What is asked for seldom is loaded when it is asked for. */
export function createDiagnostics(context: DiagnosticsContext): Diagnostics {
  const { records, objects, space, folder, bodies, own, live, soleSince } = context;
  const random = randomBytes;
  const free = async () => (await space())?.free;
  const tasks = new ExclusiveTasks({ records, owner: () => own().endpoint, random, clock: Date.now, soleSince });
  const usage = createUsageReader(records);
  return {
    locks: () => readHeldLocks({ records, tasks, folder, own: own(), live, clock: Date.now }),
    async *objectSpeed(options, signal) {
      const { measureObjects } = await import('./object-speed.ts');
      yield* measureObjects({ objects, tasks, free, random, clock: monotonic }, options, signal);
    },
    async driveSpeed(options, signal) {
      if (bodies === undefined)
        throw adminError('XCofferRefused', 'The bodies are in another S3: this server has no drive to measure.');
      const { end } = await tasks.begin('speed test', maxDriveMs);
      try {
        const { measureDrive } = await import('./drive-speed.ts');
        return await measureDrive({ folder: bodies, free, random, clock: monotonic }, options, signal);
      } finally {
        await end();
      }
    },
    async exclusively(task, maxMs, work) {
      const { end } = await tasks.begin(task, maxMs);
      try {
        return await work();
      } finally {
        await end();
      }
    },
    async profile(kinds, durationMs) {
      const { end } = await tasks.begin(`profile of ${own().endpoint}`, durationMs + profileGraceMs);
      try {
        const { files, missing } = await context.profile(kinds, durationMs);
        return [...files.map(({ name, text }) => ({ name, content: Buffer.from(text) })), readme(kinds, missing)];
      } finally {
        await end();
      }
    },
    async inspect(bucket, pattern) {
      const { inspectObjects } = await import('./inspect-objects.ts');
      return inspectObjects(objects, records, { bucket, pattern });
    },
    scanner: (bucket) => readScannerState(records, usage, bucket),
    host: () => readHostState(bodies ?? folder, own().endpoint.replace(/:\d+$/, '').replaceAll(/[[\]]/g, '')),
  };
}

function readme(kinds: readonly ProfileKind[], missing: readonly string[]) {
  const absent = kinds.filter((kind) => kind === 'mutex' || kind === 'trace');
  const lines = [
    'Each thread of the server has its files: main, background, http-1 and so on. Hashing threads cannot be profiled.',
    '.cpuprofile and .heapprofile: open them in the developer tools of Chromium or in Visual Studio Code.',
    ...(absent.length === 0 ? [] : [`There is no profile of the kind ${absent.join(', ')} for this runtime.`]),
    ...(missing.length === 0 ? [] : [`These threads did not answer: ${missing.join(', ')}.`]),
  ];
  return { name: 'README.txt', content: Buffer.from(`${lines.join('\n')}\n`) };
}
