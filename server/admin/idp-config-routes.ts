import { parseKeyValues } from '../../protocol/settings/key-values.ts';
import type { IdentityProviderConfigurations, Saved } from '../identity-providers/identity-provider-configurations.ts';
import { AdminError } from './admin-error.ts';
import { mayAttach, requireOneOf } from './own-account.ts';
import { type AdminAnswer, type AdminCall, type Route, sealed } from './route.ts';

/** Identity providers as `mc idp openid` and `mc idp ldap` configure them: `idp-config/TYPE[/NAME]`. */
export const idpConfigRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: /^\/minio\/admin\/v[34]\/idp-config\/([^/]+)\/?$/,
    action: 'admin:ConfigUpdate',
    async serve(call) {
      const [type = ''] = call.parts;
      const list = await kindOf(call).list();
      return sealed(list.map(({ name, enabled, roleArn }) => ({ type, name, enabled, roleARN: roleArn })));
    },
  },
  {
    method: 'GET',
    path: /^\/minio\/admin\/v[34]\/idp-config\/([^/]+)\/([^/]+)$/,
    action: 'admin:ConfigUpdate',
    async serve(call) {
      const [type = '', name = ''] = call.parts;
      const found = await kindOf(call).get(name);
      if (found === undefined) {
        throw new AdminError('XMinioAdminNoSuchConfigTarget', `There is no ${type} configuration ${name}.`);
      }
      const isEnv = found.origin === 'environment';
      const info = found.values.map(({ key, value }) => ({ key, value, isCfg: !isEnv, isEnv }));
      const role = found.roleArn === undefined ? [] : [roleEntry(found.roleArn)];
      return sealed({ type, name, info: [...info, ...role] });
    },
  },
  {
    method: 'PUT|POST',
    path: /^\/minio\/admin\/v[34]\/idp-config\/([^/]+)\/([^/]+)$/,
    action: 'admin:ConfigUpdate',
    async serve(call) {
      // A provider says who has which policies.
      await requireOneOf(call, mayAttach);
      const values = parseKeyValues((await call.sealedBody()).toString());
      const mode = call.request.method === 'PUT' ? 'add' : 'update';
      const unproven = call.query.get('force') === 'true';
      return saved(await kindOf(call).save(call.parts[1] ?? '_', values, mode, { unproven }));
    },
  },
  {
    method: 'DELETE',
    path: /^\/minio\/admin\/v[34]\/idp-config\/([^/]+)\/([^/]+)$/,
    action: 'admin:ConfigUpdate',
    serve: async (call) => saved(await kindOf(call).remove(call.parts[1] ?? '_')),
  },
];

/** Clients that are not told so ask their user to restart the server. */
export function saved({ applied }: Saved): AdminAnswer {
  return applied ? { kind: 'none', headers: { 'x-minio-config-applied': 'true' } } : { kind: 'none' };
}

function kindOf({ services, parts: [type = ''] }: AdminCall): IdentityProviderConfigurations {
  const kinds = services.identityProviders ?? [];
  const found = kinds.find(({ subsystem }) => subsystem === `identity_${type}`);
  if (found !== undefined) return found;
  const known = kinds.map(({ subsystem }) => subsystem.replace('identity_', '')).join(', ');
  throw new AdminError(
    'XMinioAdminNoSuchConfigTarget',
    `Identity providers of type ${JSON.stringify(type.slice(0, 40))} cannot be configured here; these can: ${known}.`,
  );
}

function roleEntry(value: string) {
  return { key: 'roleARN', value, isCfg: false, isEnv: false };
}
