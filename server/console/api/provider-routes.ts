import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import type {
  ConfigurationSummary,
  IdentityProviderConfigurations,
} from '../../federation/configurations/provider-configurations.ts';
import type {
  ProviderAnswer,
  ProviderKinds,
  ProviderRow,
  ProviderState,
  ProviderTest,
} from '../../../protocol/console/provider-answers.ts';
import type { ConsoleServices } from '../services.ts';
import { refuseBoundedProviderChange } from '../../administration/caller.ts';
import { type Authorizer, type Exchange, readForm, mayAttach } from './authorize.ts';
import { currentSession } from './sign-in/current-session.ts';
import { isEncrypted } from './request-source.ts';
import { queryText } from './query.ts';
import { redirectUri, usedUrl } from './sign-in/redirects.ts';
import { consoleError } from './console-error.ts';

const values = z.record(z.string().max(64), z.string().max(16_384));
const name = z.string().trim().min(1).max(64);

/** Identity providers, as with `mc idp`. Those that the environment configures are read only. */
export function providerRoutes(services: ConsoleServices, authorizer: Authorizer): Router {
  const kinds = services.administration.identityProviders ?? [];
  const router = Router();

  const kindOf = (type: string): IdentityProviderConfigurations => {
    const found = kinds.find((kind) => typeOf(kind) === type);
    if (found !== undefined) return found;
    throw consoleError(
      'NotFound',
      `Identity providers of type ${JSON.stringify(type.slice(0, 40))} cannot be set here.`,
    );
  };

  const requireChange = async (exchange: Exchange) => {
    await authorizer.require(exchange, 'admin:ConfigUpdate', '');
    await authorizer.require(exchange, mayAttach, '');
    const { principal } = currentSession(exchange.response).credentials;
    if (principal.kind !== 'anonymous') refuseBoundedProviderChange(principal);
  };

  const rowOf = (type: string, { name: id, enabled, origin, roleArn }: ConfigurationSummary): ProviderRow => {
    const provider = type === 'openid' ? services.providers.byId(id) : undefined;
    return {
      name: id,
      enabled,
      origin,
      displayName: provider?.displayName,
      roleArn,
      state: stateOf(type, enabled, provider),
    };
  };

  router.get('/identity-providers', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:ConfigUpdate', '');
    await services.providers.started;
    const { browserUrl, ownUrl } = services.settings;
    response.json({
      kinds: await Promise.all(
        kinds.map(async (kind) => ({
          type: typeOf(kind),
          description: kind.description,
          multiple: kind.multiple,
          testable: kind.test !== undefined,
          keys: kind.keys.map(({ key, help, type, optional, secret }) => ({ key, help, type, optional, secret })),
          configurations: (await kind.list()).map((one) => rowOf(typeOf(kind), one)),
        })),
      ),
      redirectUri: redirectUri({
        dynamic: false,
        fixed: undefined,
        browserUrl,
        ownUrl,
        usedUrl: usedUrl({
          host: request.get('host'),
          forwardedProto: request.get('x-forwarded-proto'),
          encrypted: isEncrypted(request),
        }),
        allowedHosts: [],
      }),
    } satisfies ProviderKinds);
  });

  router.get('/identity-provider', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:ConfigUpdate', '');
    const type = queryText(request, 'type');
    const id = queryText(request, 'name');
    const found = await kindOf(type).get(id);
    if (found === undefined) throw consoleError('NotFound', `There is no identity provider ${id.slice(0, 80)}.`);
    response.json({
      ...rowOf(type, found),
      values: Object.fromEntries(found.values.map(({ key, value }) => [key, value])),
    } satisfies ProviderAnswer);
  });

  router.post('/identity-providers', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await requireChange(exchange);
    const form = await readForm(exchange, z.strictObject({ name, values }));
    await kindOf(queryText(request, 'type')).save(form.name, mapOf(form.values), 'add');
    response.status(201).json({});
  });

  /** Changes the given values; an empty one is removed, and all others stay as they are. */
  router.put('/identity-provider', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await requireChange(exchange);
    const form = await readForm(exchange, z.strictObject({ changes: values }));
    // An outdated page must not restore a removed provider, as any other mode would.
    await kindOf(queryText(request, 'type')).save(queryText(request, 'name'), mapOf(form.changes), 'update');
    response.status(204).end();
  });

  router.put('/identity-provider/enabled', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await requireChange(exchange);
    const form = await readForm(exchange, z.strictObject({ enabled: z.boolean() }));
    const change = new Map([['enable', form.enabled ? 'on' : 'off']]);
    await kindOf(queryText(request, 'type')).save(queryText(request, 'name'), change, 'update');
    response.status(204).end();
  });

  router.delete('/identity-provider', async (request, response) => {
    await authorizer.require({ request, response }, 'admin:ConfigUpdate', '');
    await kindOf(queryText(request, 'type')).remove(queryText(request, 'name'));
    response.status(204).end();
  });

  /** Tests the provider with the values of a form or with the saved ones. It changes nothing. */
  router.post('/identity-provider/test', async (request: Request, response: Response) => {
    const exchange = { request, response };
    await authorizer.require(exchange, 'admin:ConfigUpdate', '');
    const form = await readForm(
      exchange,
      z.strictObject({ values: values.optional(), person: z.string().trim().max(1_024).optional() }),
    );
    const kind = kindOf(queryText(request, 'type'));
    if (kind.test === undefined) throw consoleError('BadRequest', 'Providers of this type cannot be tested here.');
    const given = form.values === undefined ? undefined : mapOf(form.values);
    const person = form.person === '' ? undefined : form.person;
    response.json({ steps: await kind.test(queryText(request, 'name'), given, person) } satisfies ProviderTest);
  });

  return router;
}

function typeOf({ subsystem }: IdentityProviderConfigurations): string {
  return subsystem.replace('identity_', '');
}

function stateOf(
  type: string,
  enabled: boolean,
  provider: ReturnType<ConsoleServices['providers']['byId']>,
): ProviderState {
  if (!enabled) return { kind: 'off' };
  if (type !== 'openid') return { kind: 'unknown' };
  const status = provider?.status;
  if (status?.kind === 'ready') return { kind: 'ready', issuer: status.metadata.issuer };
  return { kind: 'unavailable', reason: status?.issue?.message ?? 'It has not answered yet.' };
}

function mapOf(record: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(Object.entries(record));
}
