import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import express, { type RequestHandler, Router } from 'express';
import { pageBelow } from './base-path.ts';
import { consoleError } from './console-error.ts';

const notBuilt =
  'The web application of the console is not built. Run "npm run prepare" in the checkout, then reload this page.\n' +
  'Its HTTP API at /api works meanwhile.\n';

/**
 * Passes a request for a text file on to the file that the build compressed, if the browser accepts it. What is not compressed is served as
 * it is.
 */
function compressed(folder: string): RequestHandler {
  return (request, response, next) => {
    const { path } = request;
    const type = types[extname(path)];
    if (type === undefined || path.includes('..') || path.includes('%')) return next();
    response.vary('accept-encoding');
    for (const [encoding, extension] of encodings) {
      // A range of the compressed file would be a part of another file.
      if (request.get('range') !== undefined || request.acceptsEncodings(encoding) === false) continue;
      if (!existsSync(join(folder, `${path}${extension}`))) continue;
      request.url = `${path}${extension}`;
      response.set({ 'content-encoding': encoding, 'content-type': type });
      break;
    }
    return next();
  };
}

const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.html': 'text/html; charset=utf-8',
};

/** Serves the web application below the base path. A path that is not a file is a page of it. Browsers cache the assets, whose names contain a hash. */
export function webFiles(folder: string, base: string): Router {
  const router = Router();
  router.use(
    '/assets',
    compressed(join(folder, 'assets')),
    express.static(join(folder, 'assets'), { immutable: true, maxAge: '1y', index: false, redirect: false }),
    () => {
      // The page itself would be a wrong answer: a browser with an old page must notice that its script was removed.
      throw consoleError('NotFound', 'There is no such file. Reload the page.');
    },
  );
  router.use(compressed(folder), express.static(folder, { index: false, redirect: false, maxAge: '1h' }));
  router.get('/{*path}', async (_request, response) => {
    response.set('cache-control', 'no-cache');
    // The application may be built while the server runs.
    if (!existsSync(join(folder, 'index.html'))) {
      response.status(503).type('text/plain').send(notBuilt);
      return;
    }
    response.type('html').send(pageBelow(await readFile(join(folder, 'index.html'), 'utf8'), base));
  });
  return router;
}
