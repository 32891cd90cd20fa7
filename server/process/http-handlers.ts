import type { Logger } from '../../platform/output/logger.ts';
import { createAdminHandler } from '../admin/admin-handler.ts';
import type { CrossOrigin } from '../s3/cross-origin.ts';
import { createS3Api } from '../s3/s3-api.ts';
import { createStsHandler } from '../sts/sts-handler.ts';
import type { ClusterView } from '../cluster/membership.ts';
import { type ApiStart, apiServices } from './api-services.ts';
import type { Handlers } from './dispatch.ts';
import { hearEvents } from './heard-events.ts';
import { type Services, stsActions } from './services.ts';
import { openServerSpeeds, openSites } from './sites.ts';
import type { SendMessage, ThreadOptions } from './threads.ts';

/** What an HTTP thread has when it can answer requests. */
interface HttpStart extends ApiStart {
  readonly crossOrigin: CrossOrigin;
  readonly cluster: () => ClusterView;
  readonly send: SendMessage;
}

/** Makes the handlers of S3, STS and the admin API. */
export function createHandlers(options: ThreadOptions, services: Services, start: HttpStart, log: Logger): Handlers {
  const { settings } = options;
  const { administration, s3 } = apiServices(options, services, start, log);
  const deployment = {
    live: start.live,
    self: options.serverId,
    root: settings.root,
    secure: options.tls !== undefined,
  };
  return {
    s3: createS3Api({
      ...s3,
      authenticate: services.authenticate,
      authenticateForm: services.authenticateForm,
      crossOrigin: start.crossOrigin,
      servedNames: [...settings.domains, ...ownNames(settings)],
      listenedEvents: hearEvents(options, services, {
        source: () => ({
          region: settings.region,
          endpoint: settings.serverUrl ?? `${options.tls === undefined ? 'http' : 'https'}://${start.endpoint}`,
          deploymentId: start.deploymentId,
        }),
        ...start,
        log,
      }),
    }),
    sts: createStsHandler({ actions: stsActions(services, settings), log }),
    admin: createAdminHandler({
      ...administration,
      authenticate: services.authenticate,
      process: start.process,
      stopping: start.stopping,
      sites: openSites(services, { region: settings.region, self: start.deploymentId }),
      serverSpeeds: openServerSpeeds(deployment),
    }),
  };
}

/** Returns the name by which clients reach S3. It comes from the settings, since a server behind an ingress cannot detect it. */
export function ownNames({ serverUrl }: ThreadOptions['settings']): readonly string[] {
  return serverUrl === undefined ? [] : [new URL(serverUrl).host];
}
