import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { timingSafeEqual } from '../../protocol/timing-safe-equal.ts';

/** A person whom the demonstration provider knows. */
export interface DemoUser {
  readonly name: string;
  readonly password: string;
  /** Names of policies of the store, as a real provider keeps them in the user attribute `policy`. */
  readonly policy: readonly string[];
}

/** Two people with different rights and passwords of their own. */
export function newDemoUsers(): readonly DemoUser[] {
  return [
    { name: 'alice', password: newPassword(), policy: ['consoleAdmin'] },
    { name: 'bob', password: newPassword(), policy: ['readonly', 'team-notes'] },
  ];
}

/** The user with this name and password. */
export function authenticate(users: readonly DemoUser[], name: unknown, password: unknown): DemoUser | undefined {
  if (typeof name !== 'string' || typeof password !== 'string') return undefined;
  const user = users.find((candidate) => candidate.name === name);
  return timingSafeEqual(password, user?.password ?? '') ? user : undefined;
}

function newPassword(): string {
  return randomBytes(9).toString('base64url').replaceAll('-', 'x').replaceAll('_', 'y');
}

const maxForm = 4096;

/** The sign-in page: a name, a password, and a warning that this is a demonstration. */
export async function handleLogin(
  provider: Provider,
  users: readonly DemoUser[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt } = await provider.interactionDetails(request, response);
  if (prompt.name !== 'login') {
    await provider.interactionFinished(request, response, { consent: {} }, { mergeWithLastSubmission: true });
    return;
  }
  if (request.method !== 'POST') return page(response, 200, '');
  const form = new URLSearchParams(await readForm(request));
  const user = authenticate(users, form.get('username'), form.get('password'));
  if (user === undefined) return page(response, 401, 'That name and password do not belong together.');
  await provider.interactionFinished(
    request,
    response,
    { login: { accountId: user.name } },
    { mergeWithLastSubmission: false },
  );
}

async function readForm(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8');
    if (text.length > maxForm) throw new Error('the form is too long');
  }
  return text;
}

function page(response: ServerResponse, status: number, issue: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  });
  response.end(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>DEMONSTRATION sign-in</title>
<style>
body { font: 16px system-ui, sans-serif; max-width: 22rem; margin: 15vh auto; padding: 0 1rem }
label { display: block; margin: .8rem 0 .2rem } input, button { font: inherit; width: 100%; padding: .5rem; box-sizing: border-box }
button { margin-top: 1.2rem } .warning { background: #fff3cd; color: #664d03; padding: .6rem; border-radius: .3rem } .problem { color: #b02a37 }
</style>
<h1>Sign in</h1>
<p class="warning"><strong>Demonstration identity provider.</strong> Its two users are made up; do not use it for anything real.</p>
<p class="problem" role="alert">${issue}</p>
<form method="post">
<label for="username">User name</label><input id="username" name="username" autocomplete="username" required autofocus>
<label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required>
<button type="submit">Sign in</button>
</form>
</html>
`);
}
