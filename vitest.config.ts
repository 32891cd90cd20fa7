import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/**
 * `npm test` runs what needs only Node: unit tests beside their files and the rooms' common tests in `test/`. Each heavier tier
 * is a project of its own with the same layout, started by `.ci/run`.
 */
const tiers = [
  'keycloak',
  'minio-client',
  'boto3',
  'ldap',
  'browser',
  'api-server',
  'power-cut',
  'disk',
  'soak',
  'postgres',
  's3-blobs',
  'fleet',
  'container',
  'cluster',
];
const tier = process.env['COFFER_TEST_TIER'];
/** `.ci/soak fuzz`: so many runs of each property. */
const fuzzing = process.env['COFFER_FUZZ_RUNS'] !== undefined;

/** Several servers need the database too. */
function foldersOf(name: string): string[] {
  return name === 'postgres' ? ['postgres', 'replicas'] : [name];
}

class ByName extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1)));
  }
}

export default defineConfig({
  ...(fuzzing
    ? { resolve: { alias: { 'fast-check': fileURLToPath(new URL('test/soak/fast-check.ts', import.meta.url)) } } }
    : {}),
  test: {
    include:
      tier === undefined
        ? ['{protocol,platform,server,keysvc,operator,cli,bin,bench}/**/*.test.ts', 'test/**/*.test.ts']
        : foldersOf(tier).map((folder) => `test/${folder}/**/*.test.ts`),
    exclude: [
      '**/node_modules/**',
      ...(tier === undefined ? tiers.flatMap(foldersOf).map((folder) => `test/${folder}/**`) : []),
    ],
    testTimeout: fuzzing ? 3_600_000 : 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Each file starts a Keycloak with a realm of its own, which is imported from one folder; two at a time are too many anyway.
    // A browser and a server each, too.
    ...(tier === 'keycloak' || tier === 'browser' ? { fileParallelism: false } : {}),
    // One cluster for the whole tier: its files follow each other by name.
    ...(tier === 'cluster'
      ? {
          fileParallelism: false,
          sequence: { sequencer: ByName },
          globalSetup: 'test/cluster/harness/global-setup.ts',
          testTimeout: 300_000,
          hookTimeout: 600_000,
        }
      : {}),
  },
});
