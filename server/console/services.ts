import type { Access, StoredCredentials } from '../access/principal.ts';
import type { ObjectLayer } from '../objects/object-layer.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { PolicyDocument } from '../../protocol/policy/document.ts';

/** What the console needs of the other rooms. It calls them in this process and never speaks HTTP to its own server. */
export interface ConsoleServices {
  readonly objects: ObjectLayer;
  readonly access: Access;
  readonly singleSignOn: SingleSignOn;
  /** Sealed: sign-in sessions and sign-ins under way are secrets. */
  readonly records: Pick<RecordStore, 'get' | 'scan' | 'commit'>;
  /** The document of a policy; undefined when there is none of this name. */
  policy(name: string): Promise<PolicyDocument | undefined>;
  readonly settings: ConsoleSettings;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: ConsoleLog;
}

export interface ConsoleSettings {
  /** `SVC_BROWSER_REDIRECT_URL`: where browsers reach the console behind a proxy. */
  readonly browserUrl?: string;
  /** Where the console listens, e.g. `http://127.0.0.1:9090`; absent when it listens on every address of the machine. */
  readonly ownUrl?: string;
  /** `SVC_CONSOLE_SESSION_DURATION`, in milliseconds. */
  readonly sessionDurationMs: number;
  /** `SVC_SERVER_URL`: shown to people as the address for S3 clients. */
  readonly s3Url?: string;
  /** `SVC_REGION`: location of new buckets. */
  readonly region: string;
  /** Folder of the built web application; `dist/console` of the checkout when absent. */
  readonly webFolder?: string;
}

/** The part of pino's logger that is used here. */
export interface ConsoleLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** OpenID providers as the console sees them. */
export interface SingleSignOn {
  providers(): Promise<readonly SignInProvider[]>;
  /**
   * Buys temporary credentials with a token of the provider, checking its signature, issuer, audience, times and policy claim.
   * Refusals are errors whose message a person on the sign-in page can act on: the claim looked for, those present, and so on.
   */
  assumeRoleWithWebIdentity(request: {
    readonly provider: string;
    readonly token: string;
    readonly accessToken?: string;
    readonly durationSeconds?: number;
  }): Promise<StoredCredentials>;
}

export interface SignInProvider {
  /** The name of its configuration, `_` for the one without a suffix. */
  readonly id: string;
  readonly displayName: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  /** Empty: all that discovery lists. */
  readonly scopes: readonly string[];
  readonly redirectUri?: string;
  readonly redirectUriDynamic: boolean;
  readonly state:
    | { readonly kind: 'ready'; readonly discovery: Readonly<Record<string, unknown>> & { readonly issuer: string } }
    | { readonly kind: 'unavailable'; readonly reason: string };
  /** Trusts the provider's own CA where one is configured. */
  readonly fetch: typeof fetch;
}
