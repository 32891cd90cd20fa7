import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { SharedAccess } from '../support/server/shared-server.ts';
import { untilReady, type RunningServer } from '../support/server/start-server.ts';
import { endVisit, leaveBrowser, newVisitor, openBrowser, type Visitor, type VisitorOptions } from './open-browser.ts';

interface Visits<Server extends SharedAccess> {
  /** The server of the file: one that the files share, or its own, which is stopped at the end. */
  readonly server: () => Promise<Server>;
  /** Keeps the server, and fills it. */
  readonly ready: (server: Server) => Promise<void> | void;
  /** Keeps the visitor of a test, and opens its first page. */
  readonly begin: (visitor: Visitor) => Promise<void> | void;
  readonly visitor?: VisitorOptions;
  /** The tests let the pages fail, which then complain. */
  readonly mayComplain?: boolean;
}

/**
 * Gives a file its server, and each of its tests a visitor of their own. A test fails if its page complained of a script or of the content
 * security policy. Hooks that the file has registered before end after these.
 */
export function visitEachTest<Server extends SharedAccess>(visits: Visits<Server>): void {
  let server: (Server & Partial<RunningServer>) | undefined;
  let browser: Browser | undefined;
  let visitor: Visitor;

  beforeAll(async () => {
    server = await visits.server();
    if (isOwn(server)) await untilReady(server);
    await visits.ready(server);
    browser = await openBrowser();
  });

  afterAll(async () => {
    await leaveBrowser(browser);
    if (server !== undefined && isOwn(server)) await server.stop();
  });

  beforeEach(async () => {
    visitor = await newVisitor(await openBrowser(), visits.visitor);
    await visits.begin(visitor);
  });

  afterEach(async ({ task }) => {
    const complaints = await endVisit(visitor, task);
    if (visits.mayComplain !== true) expect(complaints).toEqual([]);
  });
}

function isOwn(server: SharedAccess): server is RunningServer {
  return 'stop' in server;
}
