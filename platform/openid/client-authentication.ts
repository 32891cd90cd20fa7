/** Without a secret: a public client, which only says who it is. */
export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret?: string;
}

/**
 * What a call to a provider's endpoint carries so that it knows the client: by the method that it offers, the header before the form.
 * Parameters of the call itself are added to the form.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1
 */
export function clientAuthentication(
  methods: readonly string[],
  { clientId, clientSecret }: OAuthClient,
): { readonly headers: Readonly<Record<string, string>>; readonly form: URLSearchParams } {
  const headers = { accept: 'application/json' };
  if (clientSecret === undefined) return { headers, form: new URLSearchParams({ client_id: clientId }) };
  if (methods.includes('client_secret_basic') || !methods.includes('client_secret_post')) {
    const pair = `${formEncode(clientId)}:${formEncode(clientSecret)}`;
    const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    return { headers: { ...headers, authorization }, form: new URLSearchParams() };
  }
  return { headers, form: new URLSearchParams({ client_id: clientId, client_secret: clientSecret }) };
}

/** Basic credentials of OAuth are form-encoded first. */
function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
