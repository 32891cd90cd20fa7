import { adminPath } from './admin-path.ts';
import { directoryState } from './directory-state.ts';
import { keyServiceState } from './key-service-calls.ts';
import { nowOf } from './now.ts';
import { type AdminAnswer, type AdminCall, json, type Route } from './route.ts';
import { infoMessage } from './server-info.ts';

export const infoRoutes: readonly Route[] = [
  { method: 'GET', path: adminPath('info'), action: 'admin:ServerInfo', serve: serverInfo },
];

async function serverInfo({ services }: AdminCall): Promise<AdminAnswer> {
  const [buckets, usage, space, keyService, directory, backgroundTasks] = await Promise.all([
    services.objects.listBuckets(),
    services.usage?.last(),
    services.space(),
    keyServiceState(services.keys),
    directoryState(services.directory),
    services.backgroundTasks?.() ?? [],
  ]);
  const now = nowOf(services);
  const others = services.others?.() ?? [];
  const { server } = services;
  const found = { usage, space, keyService, directory, backgroundTasks };
  return json(infoMessage({ server, others, buckets: buckets.length, ...found, now }));
}
