/** A failure of another site. `away`: it does not answer. `no-coffer`: it is another kind of server, or an older Coffer. */
export class PeerError extends Error {
  override readonly name = 'PeerError';
  readonly code: 'away' | 'refused' | 'no-coffer';

  constructor(code: PeerError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
