import { Router, type Request, type Response } from 'express';
import { isSignedInAt, type OpenIdProvider } from '../../../federation/openid-providers.ts';
import { Attempts, networkOf } from '../../../auth/guess-limits.ts';
import type { AuditContext } from '../../../http/contract/request.ts';
import type { ConsoleServices } from '../../services.ts';
import { secondsUntil } from './session-routes.ts';
import { issueCredentials } from './session-credentials.ts';
import { errorAnswerOf, consoleError } from '../console-error.ts';
import { readCookie, serializeCookie, clearNotice, setNotice } from './cookies.ts';
import { pendingLifetimeMs, PendingSignIns, type PendingError, type PendingSignIn } from './pending-sign-ins.ts';
import { safeReturnPath } from './redirects.ts';
import { redirectUriFor, usedUrlOf } from './redirect-uri.ts';
import { isSecure, originOf, sourceOf } from '../request-source.ts';
import type { SignInSessions } from './sign-in-sessions.ts';
import { authorizationUrl, newCodeFlow, redeemCode } from './single-sign-on.ts';
import { setSessionCookie } from './current-session.ts';
import { basePathOf } from '../base-path.ts';
import { auditOf } from '../request-audit.ts';

const browserCookie = 'coffer_sign_in';

/** Sign-ins that begin, from one network. Each costs a little processor time, and a request to the provider now and then. */
const startLimit = { max: 60, windowMs: 60_000 };

/** Redirects to an identity provider and handles the return. Both are navigations of the browser: errors redirect to the sign-in page. */
export function singleSignOnRoutes(services: ConsoleServices, sessions: SignInSessions, sweep: () => void): Router {
  const router = Router();
  const pending = new PendingSignIns(services.records, services.clock);
  const starts = new Attempts(startLimit);

  async function begin(request: Request, response: Response): Promise<void> {
    const provider = providerOf(services, request.params['provider']);
    const redirect = redirectUriFor(request, services, provider);
    const elsewhere = sameHostUrl(request, redirect);
    if (elsewhere !== undefined) {
      response.redirect(elsewhere);
      return;
    }
    const network = networkOf(sourceOf(request).address);
    const now = services.clock().getTime();
    if (starts.waitSeconds(network, now) > 0) {
      throw consoleError('TooManyAttempts', 'Too many sign-ins were started from your address. Try again in a minute.');
    }
    starts.count(network, now);
    sweep();
    const flow = newCodeFlow();
    // This fails before the browser gets a cookie if the provider is unavailable.
    await authorizationUrl(provider, { ...flow, redirectUri: redirect, state: '' });
    const returnPath = safeReturnPath(request.query['to']);
    const { state, cookie } = await pending.begin({
      ...flow,
      providerId: provider.id,
      redirectUri: redirect,
      returnPath,
    });
    const secure = isSecure(request, services.settings);
    const maxAge = pendingLifetimeMs / 1000;
    response.append('set-cookie', serializeCookie(browserCookie, cookie, { maxAge, secure }));
    clearNotice(response, secure);
    response.redirect((await authorizationUrl(provider, { ...flow, redirectUri: redirect, state })).href);
  }

  async function finish(request: Request, response: Response): Promise<void> {
    const { code, error, state: given } = request.query;
    if (code === undefined && error === undefined && given === undefined) {
      // The provider comes back here after a sign-out: the address is one that it knows.
      response.redirect(`${basePathOf(services.settings)}/sign-in`);
      return;
    }
    const audit = auditOf(response);
    audit?.setOperation('ConsoleSignInByProvider');
    const sent = request.query['state'];
    const state = typeof sent === 'string' ? sent.slice(0, 200) : '';
    const taken = await pending.find(
      state,
      readCookie(request.headers.cookie, browserCookie, isSecure(request, services.settings)),
    );
    if (typeof taken === 'string') throw consoleError('SignInRefused', messages[taken]);
    const { secret, maxAge, principal } = await signIn(request, taken, { state, audit });
    audit?.setPrincipal(principal);
    const secure = isSecure(request, services.settings);
    response.append('set-cookie', serializeCookie(browserCookie, '', { maxAge: 0, secure }));
    setSessionCookie(response, secret, maxAge, secure);
    clearNotice(response, secure);
    response.redirect(`${basePathOf(services.settings)}${taken.returnPath}`);
  }

  async function signIn(
    request: Request,
    taken: PendingSignIn,
    { state, audit }: { readonly state: string; readonly audit: AuditContext | undefined },
  ) {
    const provider = providerOf(services, taken.providerId);
    const query = request.originalUrl.split('?').slice(1).join('?');
    const tokens = await redeemCode(provider, { ...taken, state, query });
    // Only a caller whom the provider has authenticated leaves a record.
    if (!(await pending.finish(state))) throw consoleError('SignInRefused', messages.unknown);
    const issued = await issueCredentials(services, provider, tokens, { audit, from: originOf(request) });
    const signedInBy = { kind: 'provider', id: provider.id, displayName: provider.displayName } as const;
    const { secret, session } = await sessions.begin(issued, signedInBy);
    services.log.info({ provider: provider.id, accessKey: issued.credentials.accessKey }, 'signed in to the console');
    const maxAge = secondsUntil(session.expires, services.clock().getTime());
    return { secret, maxAge, principal: issued.credentials.principal };
  }

  router.get('/api/sign-in/:provider', redirectToSignInOnError(services, begin));
  router.get('/oauth_callback', redirectToSignInOnError(services, finish));
  return router;
}

/** Shows the error of a navigation on the sign-in page instead of as JSON. */
function redirectToSignInOnError(
  services: ConsoleServices,
  handler: (request: Request, response: Response) => Promise<void>,
): (request: Request, response: Response) => Promise<void> {
  return async (request, response) => {
    try {
      await handler(request, response);
    } catch (error) {
      const message = signInFailure(error);
      auditOf(response)?.setError({ code: 'SignInRefused', message });
      services.log.warn({ err: error, path: request.path }, 'a sign-in by an identity provider failed');
      setNotice(response, message, isSecure(request, services.settings));
      response.redirect(`${basePathOf(services.settings)}/sign-in`);
    }
  };
}

/** Messages of known errors are for the user. Others are in the log alone. */
function signInFailure(error: unknown): string {
  return errorAnswerOf(error)?.message ?? 'The server failed to sign you in. Its log has the reason.';
}

function providerOf(services: ConsoleServices, id: unknown): OpenIdProvider {
  const provider = typeof id === 'string' ? services.providers.byId(id) : undefined;
  if (provider === undefined || !isSignedInAt(provider)) {
    throw consoleError('SignInRefused', `There is no identity provider "${String(id).slice(0, 80)}" here any more.`);
  }
  return provider;
}

/**
 * The URL of the same start at the host of the redirect URI, if the browser used another name of it (localhost for 127.0.0.1): the
 * cookie that binds the start to the return belongs to one host. It is tried once, because a proxy may hide the host.
 */
function sameHostUrl(request: Request, redirect: string): string | undefined {
  const target = new URL(redirect);
  if (request.query['hop'] !== undefined || target.host === new URL(usedUrlOf(request)).host) return undefined;
  const url = new URL(`${redirect.slice(0, -'/oauth_callback'.length)}${request.path}`);
  url.searchParams.set('to', safeReturnPath(request.query['to']));
  url.searchParams.set('hop', '1');
  return target.pathname.endsWith('/oauth_callback') ? url.href : undefined;
}

const messages: Readonly<Record<PendingError, string>> = {
  unknown: 'This sign-in was already finished. Sign in again.',
  expired: 'You took longer than ten minutes at the identity provider. Sign in again.',
  'other-browser':
    'This sign-in was started in another browser, in another tab after this one, or at another address of this console, or your browser blocks cookies. Sign in again.',
};
