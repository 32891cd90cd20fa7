import { existsSync } from 'node:fs';
import { join } from 'node:path';
import express, { Router } from 'express';
import { ConsoleError } from './console-error.ts';

const notBuilt =
  'The web application of the console is not built. Run "npm run prepare" in the checkout, then reload this page.\n' +
  'Its HTTP API at /api works meanwhile.\n';

/** Serves the web application. A path that is not a file is a page of it. Browsers cache the assets, whose names contain a hash. */
export function webFiles(folder: string): Router {
  const router = Router();
  router.use(
    '/assets',
    express.static(join(folder, 'assets'), { immutable: true, maxAge: '1y', index: false, redirect: false }),
    () => {
      // The page itself would be a wrong answer: a browser with an old page must notice that its script was removed.
      throw new ConsoleError('NotFound', 'There is no such file. Reload the page.');
    },
  );
  router.use(express.static(folder, { index: false, redirect: false, maxAge: '1h' }));
  router.get('/{*path}', (_request, response) => {
    response.set('cache-control', 'no-cache');
    // The application may be built while the server runs.
    if (!existsSync(join(folder, 'index.html'))) {
      response.status(503).type('text/plain').send(notBuilt);
      return;
    }
    response.sendFile('index.html', { root: folder, cacheControl: false });
  });
  return router;
}
