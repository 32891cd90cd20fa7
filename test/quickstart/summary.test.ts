import { describe, expect, it } from 'vitest';
import { renderSummary, type Summary } from '../../examples/quickstart/summary.ts';

const summary: Summary = {
  tenant: 'demo',
  seconds: 4,
  s3: 'http://127.0.0.1:9000',
  console: 'http://127.0.0.1:9090',
  keyService: undefined,
  rootUser: 'root',
  passwordAt: '.coffer/secrets/demo/rootPassword',
  passwordFile: '.coffer/secrets/demo/rootPassword',
  demo: undefined,
  button: undefined,
  identityError: undefined,
  manifests: 'manifests',
  state: '.coffer',
};

describe('the summary of npm start', () => {
  it('hands the password to the client by its input, never as an argument', () => {
    expect(renderSummary(summary)).toContain(
      'node bin/coffer.js alias set demo http://127.0.0.1:9000 root < .coffer/secrets/demo/rootPassword\n',
    );
  });

  it('lets the client ask where the password is in no file', () => {
    expect(renderSummary({ ...summary, passwordFile: undefined })).toContain('http://127.0.0.1:9000 root\n');
  });

  it('names no sign-in button without an identity provider', () => {
    expect(renderSummary(summary)).toMatch(/Log in +open http:\/\/127.0.0.1:9090, as the root user\n/);
  });

  it('names the button of the identity provider', () => {
    expect(renderSummary({ ...summary, button: 'Log in with work' })).toContain('or by "Log in with work"');
  });
});
