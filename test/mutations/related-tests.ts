import { globSync, readFileSync } from 'node:fs';
import { posix, resolve } from 'node:path';

export interface RelatedTests {
  readonly unit: readonly string[];
  readonly process: readonly string[];
}

/**
 * The tests of `npm test` that import a file, directly or through others, nearest first. Programs and threads are started by their
 * path, so a string that names a file counts as an import of it.
 */
export function relatedTests(folder: string): (file: string) => RelatedTests {
  const files = globSync('{protocol,platform,server,keysvc,operator,cli,bin,test,examples}/**/*.{ts,tsx,js}', {
    cwd: folder,
  });
  const known = new Set(files);
  const importers = new Map<string, string[]>();
  for (const file of files)
    for (const [, path = ''] of readFileSync(resolve(folder, file), 'utf8').matchAll(
      /['"`]([^'"`\s]+\.(?:tsx?|js))['"`]/g,
    )) {
      const relative = posix.join(posix.dirname(file), path);
      const imported = path.startsWith('.') && known.has(relative) ? relative : path;
      if (known.has(imported)) importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  return (file) => {
    const near = new Set([file]);
    for (const next of near) for (const importer of importers.get(next) ?? []) near.add(importer);
    const tests = [...near].filter((name) => /\.test\.tsx?$/.test(name) && !heavy.test(name));
    return { unit: tests.filter(isUnit), process: tests.filter((name) => !isUnit(name)) };
  };
}

/** Tiers that `.ci/run` starts, not `npm test`: vitest.config.ts leaves them out of the project `process`. */
const heavy =
  /^test\/(keycloak|minio-client|boto3|ldap|browser|api-server|power-cut|disk|soak|postgres|replicas|s3-blobs|fleet|container|cluster|vault)\//;

function isUnit(name: string): boolean {
  return !name.startsWith('test/') && !name.includes('.process.');
}
