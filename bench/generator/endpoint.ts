/** A server under load, and who asks. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}
