import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import type { TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/**
 * `npm test` runs what needs only Node, in two projects. `unit` has the tests of the sources: its files open no socket and start no
 * process (test/support/vitest/unit-setup.ts). `process` has their `*.process.test.ts`, which may, and all of `test/` with the
 * bundled programs. The files of a project share workers: a worker of its own costs each file half a second of processor time, and
 * each worker loads most of the sources once. Each heavier tier is a project with the layout of `test/`, started by `.ci/run`, and
 * each of its files has a worker of its own, but for those of the tier `browser`.
 */
const tiers = [
  'keycloak',
  'minio-client',
  'boto3',
  'clients',
  'ldap',
  'brokers',
  'browser',
  'api-server',
  'power-cut',
  'disk',
  'soak',
  'postgres',
  's3-blobs',
  'vault',
  'select',
  'installed',
  'fleet',
  'container',
  'cluster',
];
const tier = process.env['COFFER_TEST_TIER'];
/** `.ci/soak fuzz` and the gate: at least so many runs of each property (test/support/vitest/fast-check.ts). */
const fuzzRuns = Number(process.env['COFFER_FUZZ_RUNS'] ?? 0);
/** `npm test` starts the bundled programs. */
const bundle = 'test/support/vitest/bundle-programs.ts';
const sharedServers = 'test/support/vitest/shared-server.ts';
const sources = '{protocol,platform,server,console,keysvc,operator,cli,bin,bench}/**';

/** The tests of the gate's own programs start each of them many times. The gate runs them always, and `npm test` where they are named. */
const gateTests =
  fuzzRuns > 0 || process.argv.some((argument) => argument.includes('test/gate'))
    ? []
    : ['test/gate/lanes.test.ts', 'test/gate/changes.test.ts'];

/** Several servers need the database too. */
function foldersOf(name: string): string[] {
  return name === 'postgres' ? ['postgres', 'replicas'] : [name];
}

/** The files of a tier share this: a Keycloak of each version, the built console, one installation of the package, one cluster. */
const shared: Readonly<Record<string, readonly string[]>> = {
  keycloak: ['test/keycloak/global-setup.ts'],
  browser: ['test/support/vitest/build-console.ts'],
  installed: ['test/installed/global-setup.ts'],
  cluster: ['test/support/cluster/global-setup.ts'],
};

/** Vitest's own number leaves one core to itself, which is half of two. The files of a tier wait for their servers. */
const workers = Math.max(2, availableParallelism() - 1);

class ByName extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1)));
  }
}

/**
 * The files that take longest, for a clone that has no durations of an earlier run. They come first, so that no worker has one left
 * when the others have ended.
 */
const longest = [
  'test/server-process/s3-away.test.ts',
  'test/operator/rolling.test.ts',
  'test/server-process/stores.test.ts',
  'test/tiering/coffer-as-tier.test.ts',
  'test/replication/plain-s3.test.ts',
  'test/sites/replicated-sites.test.ts',
  'test/events/dead-target.test.ts',
  'test/cli/concurrent-writers.test.ts',
  'test/cli/coffer-against-coffer.test.ts',
  'test/quickstart/whole-way.test.ts',
  'test/tiering/google-tier.test.ts',
  'test/attacker/matrix.test.ts',
  'test/store-tool/twins.test.ts',
  'test/replication/coffer-to-coffer.test.ts',
  'test/cli/keys.test.ts',
  'test/server-process/key-lifecycle.test.ts',
  'test/store-tool/server.test.ts',
  'test/events/webhook.test.ts',
  'operator/runtime/local/local-runtime.process.test.ts',
  'server/store/s3/blob-store.process.test.ts',
  'test/killed-client/killed-client.test.ts',
  'test/browser/objects/time-zones.test.ts',
  'test/browser/accessibility.test.ts',
  'test/browser/jobs/jobs.test.ts',
  'test/browser/states/states.test.ts',
  'test/browser/languages.test.ts',
  'test/browser/phone/phone.test.ts',
  'test/browser/volume/volume.test.ts',
];

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longest.findIndex((path) => moduleId.endsWith(`/${path}`));
  return rank === -1 ? longest.length : rank;
}

function groupOf({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder;
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // The sort is stable: the other files keep the order by their durations, or else their sizes.
    return (await super.sort(files)).toSorted((a, b) => groupOf(a) - groupOf(b) || rankOf(a) - rankOf(b));
  }
}

const hasOption = (name: string): boolean => process.argv.some((argument) => argument.startsWith(name));

/** A sequencer of the configuration would replace the random order that the gate asks for. */
const isShuffled = hasOption('--sequence.shuffle');
const sequencer = isShuffled ? {} : { sequence: { sequencer: LongestFirst } };

/** The files with sockets and programs compute for less than a third of their time. */
const waitingWorkers = availableParallelism() + 4;

/**
 * `npm test` runs both projects as one group: the unit tests come last, and compute while the last files of the other project wait. A
 * worker serves one project, so that a random order of both would start one for each file.
 */
const isOneGroup = !isShuffled && !hasOption('--project');

const projects: TestProjectInlineConfiguration[] = [
  {
    extends: true,
    test: {
      name: 'unit',
      include: [`${sources}/*.test.ts`],
      exclude: ['**/node_modules/**', '**/*.process.test.ts'],
      isolate: false,
      // In addition to the files that all projects have.
      setupFiles: ['test/support/vitest/unit-setup.ts'],
      sequence: { groupOrder: isOneGroup ? 1 : 0 },
      maxWorkers: isOneGroup ? waitingWorkers : '100%',
    },
  },
  {
    extends: true,
    test: {
      name: 'process',
      include: ['test/**/*.test.ts', `${sources}/*.process.test.ts`],
      exclude: ['**/node_modules/**', ...gateTests, ...tiers.flatMap(foldersOf).map((folder) => `test/${folder}/**`)],
      sequence: { groupOrder: 1 },
      isolate: false,
      globalSetup: [bundle, sharedServers],
      maxWorkers: waitingWorkers,
    },
  },
];

export default defineConfig({
  test: {
    ...(tier === undefined
      ? { projects, ...sequencer }
      : {
          include: [...foldersOf(tier), ...(tier === 'installed' ? ['cli', 'killed-client'] : [])].map(
            (folder) => `test/${folder}/**/*.test.ts`,
          ),
        }),
    setupFiles: ['test/support/vitest/setup.ts', 'test/support/vitest/costs.ts'],
    testTimeout: fuzzRuns > 1_000 ? 3_600_000 : 120_000,
    hookTimeout: 180_000,
    // A wait that a busy machine makes longer must not fail: the default is 1 s (also test/support/vitest/setup.ts).
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    // Node itself reads the sources, as in the programs. Vite would transform each module once more for each worker.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    ...(tier === undefined
      ? {}
      : { globalSetup: [bundle, sharedServers, ...(shared[tier] ?? [])], maxWorkers: workers }),
    // The files of a worker share its Chromium and its loaded modules. The longest ones come first.
    ...(tier === 'browser' ? { isolate: false, ...sequencer } : {}),
    // Its tests wait for blobs to be removed, each on a file system of its own.
    ...(tier === 'disk' ? { maxConcurrency: 10 } : {}),
    // The files of the cluster follow each other by name.
    ...(tier === 'cluster'
      ? { fileParallelism: false, sequence: { sequencer: ByName }, testTimeout: 300_000, hookTimeout: 600_000 }
      : {}),
  },
});
