/** Where keys are kept, and how to get in, as the configuration says it. */
export type KeyStoreSettings =
  | FilesKeyStoreSettings
  | AzureKeyStoreSettings
  | VaultKeyStoreSettings
  | AwsKeyStoreSettings
  | GcpKeyStoreSettings
  | KesKeyStoreSettings;

interface FilesKeyStoreSettings {
  readonly kind: 'files';
  readonly path: string;
}

export interface AzureKeyStoreSettings {
  readonly kind: 'azure';
  /** `https://NAME.vault.azure.net`, without a slash at the end. */
  readonly endpoint: string;
  /** Where tokens come from, `https://HOST`; that of the vault's cloud where it is left out. */
  readonly authority?: string;
  /** What the tokens are for; the vault's own domain, as its challenge names it, where it is left out. */
  readonly audience?: string;
  /** Authorities of certificates trusted besides the system's. */
  readonly caFile?: string;
  readonly login: AzureLogin;
}

export type AzureLogin =
  | {
      readonly kind: 'client-secret';
      readonly tenantId: string;
      readonly clientId: string;
      readonly clientSecret: string;
    }
  /** Of the machine; of a user-assigned identity where `clientId` is given. */
  | { readonly kind: 'managed-identity'; readonly clientId?: string }
  /** What is left out, the environment says, as Azure's webhook sets it. */
  | {
      readonly kind: 'workload-identity';
      readonly tenantId?: string;
      readonly clientId?: string;
      readonly tokenFile?: string;
    };

export interface VaultKeyStoreSettings {
  readonly kind: 'vault';
  readonly endpoint: string;
  /** Path of the key-value engine. */
  readonly engine: string;
  readonly version: 'v1' | 'v2';
  readonly namespace?: string;
  /** What the names begin with; empty or without slashes at its ends. */
  readonly prefix: string;
  readonly login: VaultLogin;
  readonly tls: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
}

export type VaultLogin = { readonly engine: string; readonly namespace?: string } & (
  | { readonly kind: 'approle'; readonly roleId: string; readonly secretId: string }
  /** `jwt` is a token, or the path of a file with one, which is read at each login. */
  | { readonly kind: 'kubernetes'; readonly role: string; readonly jwt: string }
);

export interface AwsKeyStoreSettings {
  readonly kind: 'aws';
  /** The region's own without it. */
  readonly endpoint?: string;
  readonly region: string;
  /** Key of AWS KMS for the secrets; AWS's own without it. */
  readonly kmsKey?: string;
  /** Found where AWS's own programs look for them where they are not given. */
  readonly credentials?: { readonly accessKey: string; readonly secretKey: string; readonly sessionToken?: string };
}

export interface GcpKeyStoreSettings {
  readonly kind: 'gcp';
  readonly endpoint: string;
  readonly projectId: string;
  readonly scopes: readonly string[];
  /** The key file of the environment, else the identity of the machine, where it is not given. */
  readonly credentials?: { readonly clientEmail: string; readonly privateKeyId: string; readonly privateKey: string };
}

export interface KesKeyStoreSettings {
  readonly kind: 'kes';
  readonly endpoints: readonly string[];
  readonly enclave?: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile?: string;
}

const loopback = /^(127(\.\d{1,3}){3}|\[::1\]|localhost)$/;

export function isLoopback(url: string): boolean {
  return loopback.test(new URL(url).hostname);
}
