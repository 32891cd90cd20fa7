import { AdminError } from './admin-error.ts';
import { json, type Route } from './route.ts';

/** Asks providers now whether people who have credentials still exist; `user` names one by parent, subject or display name. */
export const personCheckRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: /^\/minio\/admin\/coffer\/v1\/identity-check$/,
    action: 'admin:CheckIdentities',
    slow: true,
    async serve({ services, query }) {
      if (services.personCheck === undefined) {
        throw new AdminError('XCofferRefused', 'This server asks no identity provider about people.');
      }
      return json(await services.personCheck.run(query.get('user') || undefined));
    },
  },
];
