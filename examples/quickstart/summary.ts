import type { DemoUser } from '../demo-identity-provider/login.ts';

export interface Summary {
  readonly tenant: string;
  readonly seconds: number;
  readonly s3: string;
  readonly console: string;
  readonly keyService: string | undefined;
  readonly rootUser: string;
  readonly passwordAt: string;
  /** Path of the password's file, where it is in one. */
  readonly passwordFile: string | undefined;
  readonly demo: { readonly issuer: string; readonly users: readonly DemoUser[] } | undefined;
  /** Label of the sign-in button; undefined for a tenant without an identity provider. */
  readonly button: string | undefined;
  /** Why single sign-on does not work, when it does not. */
  readonly identityError: string | undefined;
  readonly manifests: string;
  readonly state: string;
}

/** What a person who ran `npm start` wants to know, once. */
export function renderSummary(summary: Summary): string {
  // An argument of a command shows in the list of processes, so the client reads the password, or asks for it.
  const password = summary.passwordFile === undefined ? '' : ` < ${summary.passwordFile}`;
  const lines = [
    '',
    `Coffer is ready: tenant ${summary.tenant}, after ${summary.seconds.toFixed(1)} s`,
    '',
    row('S3', summary.s3),
    row('Console', summary.console),
    ...(summary.keyService === undefined ? [] : [row('Key service', summary.keyService)]),
    ...(summary.demo === undefined
      ? []
      : [row('Identity provider', `${summary.demo.issuer}  (DEMONSTRATION, not for real use)`)]),
    row('Root user', `${summary.rootUser}, password in ${summary.passwordAt}`),
    ...logIn(summary),
    '',
    '  Try, in another terminal:',
    `    node bin/coffer.js alias set ${summary.tenant} ${summary.s3} ${summary.rootUser}${password}`,
    `    node bin/coffer.js mb ${summary.tenant}/first`,
    `    node bin/coffer.js cp README.md ${summary.tenant}/first/`,
    '',
    `  Manifests: ${summary.manifests} (edit one: what it changes restarts). State: ${summary.state}. Stop: Ctrl-C.`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function logIn(summary: Summary): string[] {
  const how = `open ${summary.console}, as the root user`;
  if (summary.identityError !== undefined) return [row('Log in', how), row('No sign-on', summary.identityError)];
  if (summary.button === undefined) return [row('Log in', how)];
  if (summary.demo === undefined) return [row('Log in', `${how}, or by "${summary.button}"`)];
  const users = summary.demo.users.map(({ name, password, policy }, index) =>
    row(index === 0 ? 'Sign-on users' : '', `${name.padEnd(6)} password ${password}  policy ${policy.join(', ')}`),
  );
  return [row('Log in', `${how}, or by "${summary.button}" as one of these:`), ...users];
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(18)} ${value}`;
}
