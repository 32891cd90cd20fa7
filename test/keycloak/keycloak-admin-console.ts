/** What an administrator of the realm does in Keycloak's own console, by its API. */
export interface RealmAdmin {
  userId(username: string): Promise<string>;
  setEnabled(username: string, enabled: boolean): Promise<void>;
  remove(username: string): Promise<void>;
  /** The address that the realm calls itself by, whatever address it is reached by. */
  setFrontendUrl(url: string): Promise<void>;
  /** Tokens are signed by a new key from now on; keys before it stay published. */
  rotateKeys(): Promise<void>;
  /** The service account of the client has exactly these roles of realm-management, or the realm role `admin`. */
  setServiceAccountRoles(roles: readonly string[]): Promise<void>;
}

export async function realmAdmin(url: string, realm: string): Promise<RealmAdmin> {
  const base = `${url}/admin/realms/${realm}`;
  // Its tokens live for a minute: one for each call.
  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const form = { client_id: 'admin-cli', grant_type: 'password', username: 'admin', password: 'admin-password' };
    const login = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    const { access_token: token } = (await login.json()) as { access_token?: string };
    const answer = await fetch(base + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }
  type Named = { readonly id: string; readonly name: string };
  const userId = async (username: string) => {
    const [user] = await call<{ id: string }[]>('GET', `/users?exact=true&username=${username}`);
    if (user === undefined) throw new Error(`there is no user ${username}`);
    return user.id;
  };
  const clientId = async (name: string) => {
    const [client] = await call<{ id: string }[]>('GET', `/clients?clientId=${name}`);
    return client?.id ?? '';
  };
  return {
    userId,
    setEnabled: async (username, enabled) => call('PUT', `/users/${await userId(username)}`, { enabled }),
    remove: async (username) => call('DELETE', `/users/${await userId(username)}`),
    async setFrontendUrl(frontendUrl) {
      const { attributes } = await call<{ attributes?: object }>('GET', '');
      await call('PUT', '', { attributes: { ...attributes, frontendUrl } });
    },
    async rotateKeys() {
      const { id } = await call<Named>('GET', '');
      await call('POST', '/components', {
        name: `rsa-${Date.now()}`,
        providerId: 'rsa-generated',
        providerType: 'org.keycloak.keys.KeyProvider',
        parentId: id,
        config: { priority: ['1000'], enabled: ['true'], active: ['true'], keySize: ['2048'], algorithm: ['RS256'] },
      });
    },
    async setServiceAccountRoles(roles) {
      const account = await call<Named>('GET', `/clients/${await clientId('coffer')}/service-account-user`);
      const management = await clientId('realm-management');
      const [ofRealm, ofClient] = [
        `/users/${account.id}/role-mappings/realm`,
        `/users/${account.id}/role-mappings/clients/${management}`,
      ];
      for (const path of [ofRealm, ofClient]) await call('DELETE', path, await call<Named[]>('GET', path));
      for (const role of roles) {
        if (role === 'admin') await call('POST', ofRealm, [await call<Named>('GET', '/roles/admin')]);
        else await call('POST', ofClient, [await call<Named>('GET', `/clients/${management}/roles/${role}`)]);
      }
    },
  };
}
