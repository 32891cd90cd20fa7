import { defineConfig } from 'vitest/config';

/**
 * `npm test` runs what needs only Node: unit tests beside their files and the rooms' common tests in `test/`. Each heavier tier
 * is a project of its own with the same layout, started by `.ci/run`.
 */
const tiers = ['keycloak', 'minio-client', 'boto3', 'browser', 'api-server', 'power-cut'];
const tier = process.env['COFFER_TEST_TIER'];

export default defineConfig({
  test: {
    include:
      tier === undefined
        ? ['{protocol,platform,server,keysvc,operator,cli,bin}/**/*.test.ts', 'test/**/*.test.ts']
        : [`test/${tier}/**/*.test.ts`],
    exclude: ['**/node_modules/**', ...(tier === undefined ? tiers.map((name) => `test/${name}/**`) : [])],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
  },
});
