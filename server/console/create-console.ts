import type { RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { accessKeyRoutes } from './api/access-key-routes.ts';
import { attachmentRoutes, policyRoutes } from './api/policy-routes.ts';
import { Gate } from './api/authorize.ts';
import { bucketRoutes } from './api/bucket-routes.ts';
import { renewing } from './api/sign-in/session-credentials.ts';
import { ConsoleError, errorHandler } from './api/console-error.ts';
import { contentRoutes } from './api/content-routes.ts';
import { directorySignInRoutes, signInRoutes } from './api/sign-in/sign-in-routes.ts';
import { sweeping } from './api/sign-in/expired-records.ts';
import { explainRoutes } from './api/explain-routes.ts';
import { groupRoutes } from './api/group-routes.ts';
import { holdBodies } from './api/hold-bodies.ts';
import { objectRoutes } from './api/object-routes.ts';
import { ownSecretRoutes } from './api/sign-in/own-secret-routes.ts';
import { pendingRoom } from './api/sign-in/pending-sign-ins.ts';
import { providerRoutes } from './api/provider-routes.ts';
import { refuseCrossSite, securityHeaders } from './api/browser-security.ts';
import { sessionRoutes } from './api/sign-in/session-routes.ts';
import { sessionRoom, SignInSessions } from './api/sign-in/sign-in-sessions.ts';
import { singleSignOnRoutes } from './api/sign-in/single-sign-on-routes.ts';
import { findSources } from './api/request-source.ts';
import { statusRoutes } from './api/status-routes.ts';
import { userRoutes } from './api/user-routes.ts';
import { requireSignIn } from './api/sign-in/visitor.ts';
import { watchVisits } from './api/watch-visits.ts';
import { webFiles } from './api/web-files.ts';
import type { ConsoleServices } from './services.ts';

/** Where `build.ts` puts the web application. */
export const builtWebFolder = fileURLToPath(new URL('../../dist/console', import.meta.url));

/**
 * The console: its HTTP API, the way through single sign-on, and the web application.
 *
 * It needs a listener of its own whose server has `requestTimeout` 0, because an upload may take hours; `headersTimeout` still
 * bounds slow clients, and the bodies of everything else are small and bounded here.
 */
export function createConsole(services: ConsoleServices): RequestListener {
  const { settings, objects, access, log } = services;
  const sessions = new SignInSessions({
    records: services.records,
    access,
    clock: services.clock,
    durationMs: settings.sessionDurationMs,
    renew: renewing(services),
  });
  const gate = new Gate(services);

  const failed = (error: unknown) => {
    log.error({ err: error }, 'expired sessions of the console could not be removed');
  };
  const sweep = sweeping(services.records, [sessionRoom, pendingRoom], services.clock, failed, services.tasks);

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(findSources(services.findSource));
  app.use(securityHeaders(settings));
  if (services.events !== undefined) app.use(watchVisits(services.events));
  app.use(singleSignOnRoutes(services, sessions, sweep));

  const api = express.Router();
  api.use((_request, response, next) => {
    response.set('cache-control', 'no-store');
    next();
  });
  api.use(refuseCrossSite(settings.browserUrl));
  if (services.bodies !== undefined) api.use(holdBodies(services.bodies));
  api.use(signInRoutes(services, sessions, gate, sweep));
  api.use(directorySignInRoutes(services, sessions, gate, sweep));
  api.use(requireSignIn(sessions, settings));
  api.use(sessionRoutes(services, sessions, gate));
  api.use(bucketRoutes(services, gate));
  api.use(objectRoutes(objects, gate));
  api.use(contentRoutes(objects, gate, log));
  api.use(ownSecretRoutes(services, gate));
  api.use(accessKeyRoutes(services, gate));
  api.use(userRoutes(services, gate));
  api.use(groupRoutes(services.administration, gate));
  api.use(policyRoutes(services.administration, gate));
  api.use(attachmentRoutes(services.administration, gate));
  api.use(explainRoutes(services, gate));
  api.use(providerRoutes(services, gate));
  api.use(statusRoutes(services, gate));
  api.use((request) => {
    throw new ConsoleError('NotFound', `The console has no ${request.method} ${request.baseUrl}${request.path}.`);
  });
  app.use('/api', api);
  app.use(webFiles(settings.webFolder ?? builtWebFolder));
  app.use(errorHandler(log));
  return app;
}
