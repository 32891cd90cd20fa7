/** The settings of a key store and its login. */
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
  /** The authority of tokens, `https://HOST`; the default is that of the vault's cloud. */
  readonly authority?: string;
  /** The audience of tokens; the default is the domain of the vault from its challenge. */
  readonly audience?: string;
  /** Additional authorities of certificates. */
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
  /** The identity of the machine, or with `clientId` a user-assigned one. */
  | { readonly kind: 'managed-identity'; readonly clientId?: string }
  /** Missing fields come from the environment, which Azure's webhook sets. */
  | {
      readonly kind: 'workload-identity';
      readonly tenantId?: string;
      readonly clientId?: string;
      readonly tokenFile?: string;
    };

export interface VaultKeyStoreSettings {
  readonly kind: 'vault';
  readonly endpoint: string;
  /** The path of the key-value engine. */
  readonly engine: string;
  readonly version: 'v1' | 'v2';
  readonly namespace?: string;
  /** The prefix of the names; empty, or without slashes at its ends. */
  readonly prefix: string;
  readonly login: VaultLogin;
  /** The key of a transit engine that seals each record. */
  readonly transit?: { readonly engine: string; readonly key: string } | undefined;
  readonly tls: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
}

export type VaultLogin = { readonly engine: string; readonly namespace?: string } & (
  | { readonly kind: 'approle'; readonly roleId: string; readonly secretId: string }
  /** `jwt` is a token, or the path of a file with one, which is read for each login. */
  | { readonly kind: 'kubernetes'; readonly role: string; readonly jwt: string }
);

export interface AwsKeyStoreSettings {
  readonly kind: 'aws';
  /** The default is the endpoint of the region. */
  readonly endpoint?: string;
  readonly region: string;
  /** The key of AWS KMS for the secrets; the default is AWS's own. */
  readonly kmsKey?: string;
  /** The default credentials are those that AWS's own programs find. */
  readonly credentials?: { readonly accessKey: string; readonly secretKey: string; readonly sessionToken?: string };
}

export interface GcpKeyStoreSettings {
  readonly kind: 'gcp';
  readonly endpoint: string;
  readonly projectId: string;
  readonly scopes: readonly string[];
  /** The default credentials are the key file of the environment, or the identity of the machine. */
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
