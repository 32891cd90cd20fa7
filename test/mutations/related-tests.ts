import { globSync, readFileSync } from 'node:fs';
import { posix, resolve } from 'node:path';

/** The tests of `npm test`, by what they need. The project `process` has those that open sockets or start processes. */
export type RelatedTests = Readonly<Record<'unit' | 'sockets' | 'process', readonly string[]>>;

/**
 * The tests of `npm test` that import a file, directly or through others, nearest first. Programs and threads are started by their
 * path, so a string that names a file counts as an import of it.
 */
export function relatedTests(folder: string): (file: string) => RelatedTests {
  const files = globSync('{protocol,platform,server,console,keysvc,operator,cli,bin,test,examples}/**/*.{ts,tsx,js}', {
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
    const of = (project: keyof RelatedTests) => tests.filter((name) => projectOf(name) === project);
    return { unit: of('unit'), sockets: of('sockets'), process: of('process') };
  };
}

/** Tiers that `.ci/run` starts, not `npm test`: vitest.config.ts leaves them out of the project `process`. */
const heavy =
  /^test\/(keycloak|minio-client|boto3|clients|ldap|brokers|browser|api-server|power-cut|disk|soak|postgres|replicas|s3-blobs|vault|select|installed|fleet|container|cluster)\//;

function projectOf(name: string): keyof RelatedTests {
  if (name.startsWith('test/')) return 'process';
  return name.includes('.process.') ? 'sockets' : 'unit';
}
