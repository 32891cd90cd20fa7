import { describe, expect, it } from 'vitest';
import { forbidden, relativeImports } from './arrows.ts';

describe('import arrows', () => {
  it.each([
    ['server/s3/put-object.ts', 'protocol/s3/names.ts'],
    ['server/s3/routes.ts', 'server/http/contract/request.ts'],
    ['server/process/thread.ts', 'server/store/keys.ts'],
    ['cli/main.ts', 'cli/ls.ts'],
    ['cli/ls.test.ts', 'server/main.ts'],
    ['keysvc/main.ts', 'package.json'],
  ])('lets %s import %s', (from, to) => {
    expect(forbidden(from, to)).toBeUndefined();
  });

  it.each([
    ['protocol/s3/names.ts', 'platform/output/logger.ts'],
    ['platform/output/logger.ts', 'server/main.ts'],
    ['cli/main.ts', 'server/s3/routes.ts'],
    ['server/store/keys.ts', 'server/objects/objects.ts'],
    ['server/s3/routes.ts', 'server/http/s3-server.ts'],
    ['server/http/s3-server.ts', 'server/s3/routes.ts'],
    ['server/s3/routes.ts', 'server/store/keys.ts'],
    ['console/app.ts', 'server/auth/principal.ts'],
    ['operator/main.ts', 'examples/quickstart/start.ts'],
  ])('refuses that %s imports %s', (from, to) => {
    expect(forbidden(from, to)).toContain(`${from} imports ${to}`);
  });

  it('finds every form of a relative import', () => {
    const source = `import a from './a.ts'; import type { B } from "../b.ts"; export * from './c.ts';
      import './d.ts'; await import('./e.ts'); new Worker(new URL('./f.ts', import.meta.url)); import z from 'zod';`;
    expect(relativeImports(source)).toEqual(['./a.ts', '../b.ts', './c.ts', './d.ts', './e.ts', './f.ts']);
  });
});
