import { routes } from '../../protocol/key-service/routes.ts';
import type { Route } from '../../protocol/key-service/routes.ts';
import { json } from './call.ts';
import type { Answer, Call } from './call.ts';

/** Every call there is. Of two methods the one of the 2023 clients is named. */
export async function listApis({ service }: Call): Promise<Answer> {
  return json(routes.map((route) => describe(route, service)));
}

function describe(route: Route, { timeoutOf, isOpen }: Call['service']): object {
  return {
    method: route.methods[0],
    path: route.argument === 'none' ? route.path : `${route.path}/`,
    max_body: route.maxBody,
    // Whole seconds; 0: none.
    timeout: Math.floor((timeoutOf(route) ?? 0) / 1000),
    verify_auth: !isOpen(route),
  };
}
