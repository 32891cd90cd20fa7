/** Changes the client's secret at a running Keycloak, as its administrator does. */
export async function setClientSecret(keycloakUrl: string, clientId: string, secret: string): Promise<void> {
  const login = new URLSearchParams({
    client_id: 'admin-cli',
    grant_type: 'password',
    username: 'admin',
    password: 'admin-password',
  });
  const answer = await fetch(`${keycloakUrl}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: login,
  });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const clients = `${keycloakUrl}/admin/realms/coffer/clients`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const found = await fetch(`${clients}?clientId=${clientId}`, { headers });
  const [client] = (await found.json()) as [{ id: string }];
  const changed = await fetch(`${clients}/${client.id}`, {
    method: 'PUT',
    headers,
    body: JSON.stringify({ ...client, secret }),
  });
  if (!changed.ok) throw new Error(`Keycloak answered ${changed.status}: ${await changed.text()}`);
}
