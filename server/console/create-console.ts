import type { RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { accessKeyRoutes } from './api/access-key-routes.ts';
import { adminCallRoutes } from './api/operations/admin-calls.ts';
import { attachmentRoutes, policyRoutes } from './api/policy-routes.ts';
import { archiveRoutes } from './api/objects/archive-routes.ts';
import { Authorizer } from './api/authorize.ts';
import { basePathOf, withoutBasePath } from './api/base-path.ts';
import { bucketRoutes } from './api/bucket-routes.ts';
import { createRenewal } from './api/sign-in/session-credentials.ts';
import { errorHandler, consoleError } from './api/console-error.ts';
import { contentRoutes } from './api/objects/content-routes.ts';
import { directorySignInRoutes, signInRoutes } from './api/sign-in/sign-in-routes.ts';
import { createSweeper } from './api/sign-in/expired-records.ts';
import { explainRoutes } from './api/explain-routes.ts';
import { groupRoutes } from './api/group-routes.ts';
import { limitBodyMemory } from './api/limit-body-memory.ts';
import { objectRoutes } from './api/objects/object-routes.ts';
import { operationsRoutes } from './api/operations/operations-routes.ts';
import { ownSecretRoutes } from './api/sign-in/own-secret-routes.ts';
import { finishedPrefix } from './api/sign-in/pending-sign-ins.ts';
import { providerRoutes } from './api/provider-routes.ts';
import { accessRoutes } from './api/objects/reach-routes.ts';
import { refuseCrossSite, securityHeaders } from './api/browser-security.ts';
import { rightsRoutes } from './api/objects/rights-routes.ts';
import { refuseSigned } from './api/objects/s3-endpoint.ts';
import { s3Routes } from './api/objects/s3-routes.ts';
import { sessionRoutes } from './api/sign-in/session-routes.ts';
import { sessionPrefix, SignInSessions } from './api/sign-in/sign-in-sessions.ts';
import { sessionListRoutes } from './api/sign-in/sign-in-list-routes.ts';
import { singleSignOnRoutes } from './api/sign-in/single-sign-on-routes.ts';
import { findSources } from './api/request-source.ts';
import { shareRoutes } from './api/objects/share-routes.ts';
import { statusRoutes } from './api/status-routes.ts';
import { transferRoutes } from './api/objects/transfer-routes.ts';
import { transferPrefix } from './transfers/stored-transfers.ts';
import { Transfers } from './transfers/transfers.ts';
import { userRoutes } from './api/user-routes.ts';
import { requireSession } from './api/sign-in/current-session.ts';
import { auditRequests } from './api/request-audit.ts';
import { webFiles } from './api/web-files.ts';
import type { ConsoleServices } from './services.ts';

/** The folder into which `build.ts` builds the web application. */
const builtWebFolder = fileURLToPath(new URL('../../dist/console', import.meta.url));

/**
 * The console: its HTTP API, single sign-on, and the web application.
 *
 * The server of its listener needs `requestTimeout` 0, because an upload may take hours. `headersTimeout` limits slow clients, and
 * `limit-body-memory` the duration of JSON bodies.
 */
export function createConsole(services: ConsoleServices): RequestListener {
  const { settings, objects, access, log } = services;
  const sessions = new SignInSessions({
    records: services.records,
    access,
    clock: services.clock,
    durationMs: settings.sessionDurationMs,
    renew: createRenewal(services),
  });
  const authorizer = new Authorizer(services);
  const transfers = new Transfers({ ...services, sessions });

  const failed = (error: unknown) => {
    log.error({ err: error }, 'expired sessions of the console could not be removed');
  };
  const sweep = createSweeper(
    services.records,
    [sessionPrefix, finishedPrefix, transferPrefix],
    services.clock,
    failed,
    services.tasks,
  );

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(withoutBasePath(basePathOf(settings)));
  app.use(findSources(services.findSource));
  app.use(securityHeaders(settings));
  if (services.events !== undefined) app.use(auditRequests(services.events));
  app.use(refuseSigned(services));
  app.use(singleSignOnRoutes(services, sessions, sweep));

  const api = express.Router();
  api.use((_request, response, next) => {
    response.set('cache-control', 'no-store');
    next();
  });
  api.use(refuseCrossSite(settings.browserUrl));
  if (services.bodies !== undefined) api.use(limitBodyMemory(services.bodies));
  api.use(signInRoutes(services, sessions, authorizer, sweep));
  api.use(directorySignInRoutes(services, sessions, authorizer, sweep));
  api.use(requireSession(sessions, settings));
  api.use(sessionRoutes(services, sessions, authorizer));
  api.use(sessionListRoutes(services, sessions, authorizer));
  api.use(bucketRoutes(services, authorizer));
  api.use(objectRoutes(objects, authorizer));
  api.use(contentRoutes(services, authorizer));
  api.use(s3Routes(services, authorizer));
  api.use(rightsRoutes(authorizer));
  api.use(accessRoutes(services, authorizer));
  api.use(transferRoutes(transfers, authorizer));
  api.use(shareRoutes(services, authorizer));
  api.use(archiveRoutes(objects, authorizer, log));
  api.use(ownSecretRoutes(services, authorizer));
  api.use(accessKeyRoutes(services, authorizer));
  api.use(userRoutes(services, authorizer));
  api.use(groupRoutes(services.administration, authorizer));
  api.use(policyRoutes(services.administration, authorizer));
  api.use(attachmentRoutes(services.administration, authorizer));
  api.use(explainRoutes(services, authorizer));
  api.use(providerRoutes(services, authorizer));
  api.use(statusRoutes(services, authorizer));
  api.use(operationsRoutes(services, authorizer));
  api.use(adminCallRoutes(services, authorizer));
  api.use((request) => {
    throw consoleError('NotFound', `The console has no ${request.method} ${request.baseUrl}${request.path}.`);
  });
  app.use('/api', api);
  app.use(webFiles(settings.webFolder ?? builtWebFolder, basePathOf(settings)));
  app.use(errorHandler(log));
  return app;
}
