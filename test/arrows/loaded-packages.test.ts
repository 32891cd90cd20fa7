import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Imports that run when their file is loaded, and not those by `import()` or of types alone. */
const loaded = /^(?:import|export)\s+(?!type\b)(?:[^;'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;

/** Returns the packages that a file and everything that it imports load at once. */
function packagesOf(start: string): ReadonlySet<string> {
  const packages = new Set<string>();
  const files = new Set([start]);
  for (const file of files) {
    for (const [, path = ''] of readFileSync(join(root, file), 'utf8').matchAll(loaded)) {
      const local = normalize(join(dirname(file), path));
      if (path.startsWith('.') && existsSync(join(root, local))) files.add(local);
      else if (!path.startsWith('.') && !path.startsWith('node:'))
        packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path);
    }
  }
  return packages;
}

/** Each thread has modules of its own. An SDK that is loaded with them costs every server memory and time to start. */
it.each([
  ['http-thread', ['jose', 'lmdb', 'yaml', 'yauzl', 'yazl', 'zod']],
  ['background-thread', ['jose', 'lmdb', 'yaml', 'zod']],
])('the packages that %s loads at once are few; others are loaded where they are used', (thread, packages) => {
  expect([...packagesOf(`server/process/${thread}.ts`)].toSorted()).toEqual(packages);
});
