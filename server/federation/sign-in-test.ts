import type { DeviceLogin } from '../../platform/openid/token-grants.ts';

/** A sign-in walked through for an administrator who wants to see where it breaks; it leaves no credentials behind. */
export interface SignInTrial {
  /** By a token, or by what gets one. Failures are steps; rejects only where this server itself cannot go on. */
  walk(provider: string, proof: SignInProof): Promise<SignInWalk>;
  /** Rejects with `OpenIdProblem` where the provider has no such login. */
  beginDevice(provider: string): Promise<DeviceLogin>;
}

export type SignInProof =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'password'; readonly user: string; readonly password: string }
  /** What `beginDevice` gave, when the person may have entered the code. */
  | { readonly kind: 'device'; readonly deviceCode: string };

export type SignInWalk =
  | { readonly kind: 'walked'; readonly steps: readonly SignInStep[] }
  | { readonly kind: 'pending'; readonly slower: boolean };

export interface SignInStep {
  /** For people, e.g. `Token`. */
  readonly step: string;
  readonly outcome: 'ok' | 'failed' | 'unclear' | 'skipped';
  readonly message: string;
}
