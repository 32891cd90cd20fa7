import { Router } from 'express';
import { keyServiceState } from '../../administration/keys.ts';
import type { StatusAnswer } from '../../../protocol/console/answers.ts';
import type { ConsoleServices } from '../services.ts';
import type { Authorizer } from './authorize.ts';

/** The state of the servers, the disk, the key service and the identity providers. */
export function statusRoutes(services: ConsoleServices, authorizer: Authorizer): Router {
  const { administration, objects, providers, directory } = services;
  const { server, others, space, keys } = administration;
  const router = Router();

  router.get('/status', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:ServerInfo', '');
    const [buckets, room, state, hasDirectory] = await Promise.all([
      objects.listBuckets(),
      space(),
      keyServiceState(keys),
      directory.isConfigured(),
    ]);
    const here = {
      endpoint: server.endpoint,
      version: server.version,
      startedAt: server.startedAt.toISOString(),
      here: true,
    };
    response.json({
      version: server.version,
      deploymentId: server.deploymentId,
      region: server.region,
      dataFolder: server.dataFolder,
      buckets: buckets.length,
      servers: [
        here,
        ...(others?.() ?? []).map(({ endpoint, version, startedAt }) => ({
          endpoint,
          version,
          startedAt: new Date(startedAt).toISOString(),
          here: false,
        })),
      ],
      space: room,
      keyService:
        keys === undefined || state === 'disabled'
          ? { kind: 'none' }
          : { kind: state, defaultKey: keys.source.defaultKey, endpoints: keys.endpoints },
      providers: providers.list.map(({ id, displayName, status }) => ({
        name: id,
        displayName,
        reason: status.kind === 'ready' ? undefined : (status.issue?.message ?? 'It has not answered yet.'),
      })),
      directory: hasDirectory,
    } satisfies StatusAnswer);
  });

  return router;
}
