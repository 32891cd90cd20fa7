import { type Request, Router } from 'express';
import type { PolicyDocument } from '../../../../protocol/policy/document.ts';
import {
  type PolicyInForce,
  type SessionAnswer,
  type SignOutAnswer,
  type Statement,
  consoleActions,
  type ConsoleAction,
  type Rights,
} from '../../../../protocol/console/answers.ts';
import { keyRights } from '../../../administration/keys.ts';
import { type Principal, type StoredCredentials, displayNameOf, subjectOf } from '../../../auth/principal.ts';
import type { ConsoleServices } from '../../services.ts';
import type { Authorizer, Exchange } from '../authorize.ts';
import { isSecure } from '../request-source.ts';
import type { SignInSession, SignInSessions, SignedInBy } from './sign-in-sessions.ts';
import { signOutUrl } from './single-sign-on.ts';
import { redirectUriFor } from './redirect-uri.ts';
import { clearSessionCookie, currentSession, setCurrentSession, setSessionCookie } from './current-session.ts';
import { clearNotice } from './cookies.ts';

/** Describes and ends the session. The routes are behind `requireSession`. */
export function sessionRoutes(services: ConsoleServices, sessions: SignInSessions, authorizer: Authorizer): Router {
  const router = Router();
  router.get('/session', async (request, response) => {
    response.json(await describeSession(services, { request, response }, authorizer));
  });
  router.post('/sign-out', async (request, response) => {
    const session = currentSession(response);
    await sessions.end(session.id);
    clearSessionCookie(response, isSecure(request, services.settings));
    response.json({ location: providerSignOut(services, request, session) } satisfies SignOutAnswer);
  });
  return router;
}

/** Returns where the browser ends the session of the provider too; undefined where it has none. */
function providerSignOut(
  services: ConsoleServices,
  request: Request,
  { signedInBy, idToken }: SignInSession,
): string | undefined {
  const provider = signedInBy.kind === 'provider' ? services.providers.byId(signedInBy.id) : undefined;
  if (provider === undefined || idToken === undefined) return undefined;
  return signOutUrl(provider, { idToken, redirectUri: redirectUriFor(request, services, provider) });
}

/** Describes the session: the user's name, the way of the sign-in, and the policies that apply. */
export async function describeSession(
  services: ConsoleServices,
  exchange: Exchange,
  authorizer: Authorizer,
): Promise<SessionAnswer> {
  const session = currentSession(exchange.response);
  const { principal, accessKey } = session.credentials;
  const { s3Url } = services.settings;
  const subject = subjectOf(principal);
  const names = subject === undefined ? [] : await services.access.identities.policiesOf(subject);
  const sessionPolicy = sessionPolicyOf(principal);
  return {
    name: principal.kind === 'anonymous' ? accessKey : displayNameOf(principal),
    kind: principal.kind === 'anonymous' ? 'temporary' : principal.kind,
    signedInBy: session.signedInBy,
    accessKey,
    signedInAt: session.signedInAt.toISOString(),
    expires: session.expires.toISOString(),
    policies: await Promise.all(names.map((name) => inForce(services, name))),
    may: await rightsOf(exchange, authorizer),
    sessionPolicy: sessionPolicy === undefined ? undefined : statementsOf(sessionPolicy),
    s3Url,
  };
}

function sessionPolicyOf(principal: Principal): PolicyDocument | undefined {
  if (principal.kind === 'temporary') return principal.sessionPolicy;
  return principal.kind === 'service-account' ? principal.inlinePolicy : undefined;
}

export async function inForce(services: Pick<ConsoleServices, 'policies'>, name: string): Promise<PolicyInForce> {
  const document = await services.policies.get(name);
  return document === undefined ? { name } : { name, statements: statementsOf(document) };
}

function statementsOf(document: PolicyDocument): readonly Statement[] {
  return document.statements;
}

/** Creates a session, sets its cookie, and makes it the session of the request. */
export async function beginSession(
  { settings }: Pick<ConsoleServices, 'settings'>,
  sessions: SignInSessions,
  { request, response }: Exchange,
  { credentials, signedInBy }: { readonly credentials: StoredCredentials; readonly signedInBy: SignedInBy },
): Promise<void> {
  const { secret, session } = await sessions.begin({ credentials }, signedInBy);
  const secure = isSecure(request, settings);
  setSessionCookie(response, secret, secondsUntil(session.expires, session.signedInAt.getTime()), secure);
  clearNotice(response, secure);
  setCurrentSession(response, session);
}

export function secondsUntil(expires: Date, nowMs: number): number {
  return Math.max(1, Math.floor((expires.getTime() - nowMs) / 1000));
}

/** The actions that the user may do. The web application shows their pages and buttons. */
async function rightsOf(exchange: Exchange, authorizer: Authorizer): Promise<Rights> {
  const [all, own] = await Promise.all([
    keep((action) => allows(exchange, authorizer, action)),
    keep((action) => authorizer.allowsOwn(exchange, action)),
  ]);
  return { all, own };
}

/** A right to keys has two names, of which a policy may have either, and a user may have it on some keys alone. */
function allows(exchange: Exchange, authorizer: Authorizer, action: ConsoleAction): Promise<boolean> {
  const names = Object.values(keyRights).find((all) => all.some((name) => name === action));
  return names === undefined ? authorizer.allows(exchange, action, '') : authorizer.allowsSome(exchange, names, '');
}

async function keep(allowed: (action: ConsoleAction) => Promise<boolean>): Promise<ConsoleAction[]> {
  const answers = await Promise.all(consoleActions.map(allowed));
  return consoleActions.filter((_, at) => answers[at] === true);
}
