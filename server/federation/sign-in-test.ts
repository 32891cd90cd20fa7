import type { DeviceLogin } from '../../platform/openid/token-grants.ts';

/** Tests a sign-in step by step for an administrator. It makes no credentials. */
export interface SignInTest {
  /** Tests with a token, or with what gets one. Failures are steps; it rejects only if this server fails. */
  run(provider: string, proof: SignInProof): Promise<SignInTestResult>;
  /** Begins a device login. Rejects with `OpenIdError` if the provider has none. */
  beginDevice(provider: string): Promise<DeviceLogin>;
}

export type SignInProof =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'password'; readonly user: string; readonly password: string }
  /** The code from `beginDevice`, after the user may have confirmed it. */
  | { readonly kind: 'device'; readonly deviceCode: string };

export type SignInTestResult =
  | { readonly kind: 'done'; readonly steps: readonly SignInStep[] }
  | { readonly kind: 'pending'; readonly slower: boolean };

export interface SignInStep {
  /** A name for people, e.g. `Token`. */
  readonly step: string;
  readonly outcome: 'ok' | 'failed' | 'unclear' | 'skipped';
  readonly message: string;
}
