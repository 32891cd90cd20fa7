import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { callerSubject, requireUnlessOwn, type Caller } from '../../administration/caller.ts';
import { policyOfNewKey, requireRootForRoot, targetSubject } from '../../administration/service-accounts.ts';
import { parsePolicyDocument } from '../../../protocol/policy/parse-policy.ts';
import { serializePolicy } from '../../../protocol/policy/document.ts';
import type { TemporaryCredentials } from '../../auth/temporary-credentials-record.ts';
import type { ServiceAccount } from '../../auth/identities/records.ts';
import type { AccessKeyAnswer, AccessKeyList, NewAccessKeyAnswer } from '../../../protocol/console/identity-answers.ts';
import type { ConsoleServices, Administration } from '../services.ts';
import { accessKeyRowsOf, rowOfAccount, rowOfTemporary, type KeyViewer } from './access-key-rows.ts';
import { type Authorizer, identitiesOf, readForm, type Exchange } from './authorize.ts';
import { listPage, listQuery, queryText } from './query.ts';
import { currentSession } from './sign-in/current-session.ts';
import { adminError } from '../../administration/admin-error.ts';
import { consoleError } from './console-error.ts';
import type { RequestError } from '../../../protocol/request-error.ts';

const text = z.string().trim().max(256);
const time = z.iso.datetime({ offset: true }).transform((value) => new Date(value));
const policy = z.string().max(64 * 1024);

const newKey = z.strictObject({
  owner: text.min(1).optional(),
  name: text.optional(),
  description: text.optional(),
  expires: time.optional(),
  policy: policy.optional(),
  accessKey: z.string().trim().max(256).optional(),
  secretKey: z.string().max(256).optional(),
});

const change = z.strictObject({
  status: z.enum(['enabled', 'disabled']).optional(),
  name: text.nullable().optional(),
  description: text.nullable().optional(),
  expires: time.nullable().optional(),
  policy: policy.nullable().optional(),
});

/** Access keys of the user and of others, by the rules of the admin API. */
export function accessKeyRoutes({ administration, clock }: ConsoleServices, authorizer: Authorizer): Router {
  const { identities, temporary, root } = administration;
  const viewerOf = (response: Response): KeyViewer => ({
    credentials: currentSession(response).credentials,
    rootUser: root.user,
    now: clock(),
  });
  const router = Router();

  router.get('/access-keys', async (request, response) => {
    const exchange = { request, response };
    const viewer = viewerOf(response);
    const { fits, page } = listQuery(request);
    if (request.query['of'] !== 'all') {
      const caller = callerOf(exchange, authorizer, administration);
      const own = callerSubject(caller.principal);
      await authorizer.requireOwn(exchange, 'admin:ListServiceAccounts');
      await requireUnlessOwn(caller, own, 'admin:ListServiceAccounts');
      const { rows: keys, ...more } = await listPage(accessKeyRowsOf(administration, viewer, own), {
        ...page,
        fits: ({ accessKey, name, description }) => fits(accessKey, name, description),
        // The rows list service accounts before temporary credentials.
        position: ({ kind, accessKey }) => `${kind} ${accessKey}`,
        toRow: (row) => row,
      });
      return response.json({ keys, ...more } satisfies AccessKeyList);
    }
    await authorizer.require(exchange, 'admin:ListServiceAccounts', '');
    await authorizer.require(exchange, 'admin:ListUsers', '');
    const { rows: keys, ...more } = await listPage(identities.serviceAccounts(), {
      ...page,
      fits: ({ accessKey, name, description, subject }) =>
        fits(
          accessKey,
          name,
          description,
          ...(subject.kind === 'federated' ? [subject.displayName] : []),
          nameOf(subject),
        ),
      position: ({ accessKey }) => accessKey,
      toRow: (account) => rowOfAccount(account, viewer),
    });
    return response.json({ keys, ...more } satisfies AccessKeyList);
  });

  router.post('/access-keys', async (request: Request, response: Response) => {
    const exchange = { request, response };
    const caller = callerOf(exchange, authorizer, administration);
    await authorizer.requireOwn(exchange, 'admin:CreateServiceAccount');
    const form = await readForm(exchange, newKey);
    const subject = await targetSubject(caller, form.owner);
    const narrowing = policyOfNewKey(caller, subject, filled(form.policy));
    const made = await caller.services.identities.createServiceAccount({
      subject,
      ...given('accessKey', filled(form.accessKey)),
      ...given('secretKey', filled(form.secretKey)),
      ...given('policy', narrowing),
      ...given('name', filled(form.name)),
      ...given('description', filled(form.description)),
      ...given('expiration', form.expires),
    });
    response.status(201).json({
      accessKey: made.accessKey,
      secretKey: made.secretKey,
      expires: made.expiration === undefined ? undefined : new Date(made.expiration).toISOString(),
    } satisfies NewAccessKeyAnswer);
  });

  router.get('/access-key', async (request, response) => {
    const exchange = { request, response };
    const caller = callerOf(exchange, authorizer, administration);
    const viewer = viewerOf(response);
    const found = await find(caller, queryText(request, 'key'), 'admin:ListServiceAccounts');
    const { subject } = found.kind === 'service-account' ? found.account : found.credentials.principal;
    const action = found.kind === 'temporary' ? 'admin:ListTemporaryAccounts' : 'admin:ListServiceAccounts';
    // A policy may deny it for the own ones too.
    await authorizer.requireOwn(exchange, action);
    await requireUnlessOwn(caller, subject, action);
    const narrowing = narrowingOf(found);
    response.json({
      ...(found.kind === 'temporary' ? rowOfTemporary(found.credentials, viewer) : rowOfAccount(found.account, viewer)),
      ...(narrowing === undefined
        ? {}
        : { policy: { document: narrowing, content: parsePolicyDocument(narrowing).statements } }),
      ownerPolicies: await identities.policiesOf(subject),
    } satisfies AccessKeyAnswer);
  });

  router.put('/access-key', async (request: Request, response: Response) => {
    const exchange = { request, response };
    const caller = callerOf(exchange, authorizer, administration);
    await authorizer.requireOwn(exchange, 'admin:UpdateServiceAccount');
    const { accessKey, subject } = await account(caller, queryText(request, 'key'));
    await requireUnlessOwn(caller, subject, 'admin:UpdateServiceAccount');
    requireRootForRoot(caller, subject);
    const form = await readForm(exchange, change);
    await caller.services.identities.updateServiceAccount(accessKey, {
      ...given('status', form.status),
      ...given('name', form.name),
      ...given('description', form.description),
      ...given('expiration', form.expires),
      ...given('policy', form.policy),
    });
    response.status(204).end();
  });

  /** Deletes a service account, or revokes temporary credentials. */
  router.delete('/access-key', async (request, response) => {
    const exchange = { request, response };
    const caller = callerOf(exchange, authorizer, administration);
    await authorizer.requireOwn(exchange, 'admin:RemoveServiceAccount');
    const found = await find(caller, queryText(request, 'key'), 'admin:RemoveServiceAccount');
    const { subject } = found.kind === 'service-account' ? found.account : found.credentials.principal;
    await requireUnlessOwn(caller, subject, 'admin:RemoveServiceAccount');
    requireRootForRoot(caller, subject);
    if (found.kind === 'temporary') await temporary.revoke(found.credentials.accessKey);
    else await caller.services.identities.removeServiceAccount(found.account.accessKey);
    response.status(204).end();
  });

  /** Only a caller with the right learns that there is no such key: for others, it is like the key of another owner. */
  async function find(caller: Caller, accessKey: string, action: string): Promise<Found> {
    const known = await identities.serviceAccount(accessKey);
    if (known !== undefined) return { kind: 'service-account', account: known };
    const credentials = await temporary.find(accessKey);
    if (credentials !== undefined) return { kind: 'temporary', credentials };
    await caller.require(action);
    throw noSuchKey(accessKey);
  }

  async function account(caller: Caller, accessKey: string): Promise<ServiceAccount> {
    const known = await identities.serviceAccount(accessKey);
    if (known !== undefined) return known;
    await caller.require('admin:UpdateServiceAccount');
    throw noSuchKey(accessKey);
  }

  return router;
}

type Found =
  | { readonly kind: 'service-account'; readonly account: ServiceAccount }
  | { readonly kind: 'temporary'; readonly credentials: TemporaryCredentials };

function narrowingOf(found: Found): string | undefined {
  if (found.kind === 'service-account') return found.account.policy;
  const { sessionPolicy } = found.credentials.principal;
  return sessionPolicy === undefined ? undefined : JSON.stringify(JSON.parse(serializePolicy(sessionPolicy)), null, 2);
}

function nameOf(subject: ServiceAccount['subject']): string | undefined {
  return subject.kind === 'user' ? subject.name : undefined;
}

function noSuchKey(accessKey: string): RequestError {
  return adminError(
    'XMinioAdminNoSuchAccessKey',
    `There is no access key ${JSON.stringify(accessKey.slice(0, 128))}, or it has ended.`,
  );
}

/** An empty field of a form counts as absent. */
function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/** Returns an object with the field, or an empty one if the value is undefined. */
function given<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [N in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: Value };
}

/** The user of the session as a caller of the administration rules. */
function callerOf(exchange: Exchange, authorizer: Authorizer, administration: Administration): Caller {
  const { principal } = currentSession(exchange.response).credentials;
  if (principal.kind === 'anonymous') throw consoleError('NotSignedIn', 'Sign in first.');
  return {
    principal,
    services: { identities: identitiesOf(exchange, administration), root: administration.root },
    require: async (action, resource = '') => {
      await authorizer.require(exchange, action, resource);
    },
  };
}
