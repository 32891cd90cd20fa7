export interface Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
}
